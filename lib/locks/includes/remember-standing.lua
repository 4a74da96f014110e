-- For the second after a take-over from clients of the SETNX articles: remember beside a lock what of ours stands there, and until when. As undo-overwriting wants it.
--- @include "now"
local function remember_standing(lock, grant)
  if redis.call('EXISTS', grant) == 0 then
    return
  end
  local current, left, text = redis.pcall('GET', lock), redis.call('PTTL', lock), ''
  if type(current) == 'string' and left > 0 and string.find(current, '^99999999999999%-') then
    text = string.format('%.0f %s', math.floor(now_us() / 1000) + left, current)
  end
  redis.pcall('SET', grant, text, 'XX', 'KEEPTTL')
end
