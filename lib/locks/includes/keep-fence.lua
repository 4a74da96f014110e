-- The last token is remembered for a day from now, and as long as it leads the clock. Redis takes 0.4 µs longer to read a number than a text.
local function keep_fence(fence, now_ms)
  local token = tonumber(redis.pcall('GET', fence) or nil)
  if token then
    local lead = math.ceil(token / 1000 - now_ms)
    redis.call('PEXPIRE', fence, lead > 0 and FENCE_LIFE + lead or 'FENCE_LIFE')
  end
end
