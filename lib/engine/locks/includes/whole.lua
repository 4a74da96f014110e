-- A whole number as Redis writes it; `..` would make 1.79e+15 of a token.
local function whole(number)
  return string.format('%.0f', number)
end
