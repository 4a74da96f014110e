-- How many ms a lease lasts that had `left` of them: `ttl`, or longer if it did. But as long as is `overlong`, it is only by a clock that was set back.
local function lengthened(left, ttl, overlong)
  local seen = tonumber(overlong or '')
  if seen and left <= seen and left > seen - SAMPLE_LIFE then
    return tonumber(ttl)
  end
  return math.max(left, tonumber(ttl))
end
