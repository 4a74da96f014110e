-- Lengthen every lease that is still its holder's, and never restore one. A lease is shortened only if it has as much left as `overlong`, for which nobody asked. The ttl follows the holders: once for all, or one for each.
-- Returns 1 if each lease lasts its ttl from now on; otherwise for each the ms left, -2 if the lock is free, -3 if it is another holder's.

--- @include held_by, no_replica, lengthened

local count, standing, answers, as_asked = #KEYS, redis.call('MGET', unpack(KEYS)), {}, true
for nth = 1, count do
  local lock = KEYS[nth]
  local holder, ttl, overlong = ARGV[nth], ARGV[count + nth] or ARGV[count + 1], ARGV[2 * count + nth]
  answers[nth] = ttl
  if not held_by(holder, standing[nth]) then
    local current = redis.pcall('GET', lock) -- MGET answers nil also for a key of another type
    no_replica(lock)
    answers[nth], as_asked = current and -3 or -2, false
  elseif not redis.REDIS_VERSION_NUM or redis.call('PEXPIRE', lock, ttl, 'GT') == 0 then -- Redis 7 added both GT and the version number
    local left = lengthened(redis.call('PTTL', lock), ttl, overlong)
    redis.call('PEXPIRE', lock, left) -- this time is always written, because a WAIT covers only writes before it
    answers[nth], as_asked = left, as_asked and left == tonumber(ttl)
  end
end
if as_asked then
  return 1
end
for nth = 1, count do
  answers[nth] = tonumber(answers[nth])
end
return answers
