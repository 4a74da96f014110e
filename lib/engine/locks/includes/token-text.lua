-- A token as Redis writes it. In two halves: %.0f takes 0.2 µs longer, and so does a number that is passed to Redis.
local function token_text(token)
  return string.format('%d%08d', token / 1e8, token % 1e8)
end
