-- The last token is remembered for a day from now, and as long as it leads the clock.
local function keep_fence(fence, now_ms)
  local token = tonumber(redis.pcall('GET', fence) or nil)
  if token then
    redis.call('PEXPIRE', fence, 86400000 + math.max(0, math.ceil(token / 1000 - now_ms)))
  end
end
