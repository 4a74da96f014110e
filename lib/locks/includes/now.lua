-- The server's clock in microseconds.
local function now_us()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- A whole number as Redis writes it; `..` would make 1.79e+15 of a token.
local function whole(number)
  return string.format('%.0f', number)
end
