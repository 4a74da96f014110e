-- Lengthen every lease that is still its holder's, never bring one back; shorten one only where so much is left as `overlong`, which nobody asked for. The ttl stands behind the holders: once for all, or one for each.
-- Returns 1 if each lease lasts its ttl from now on; else for each the ms left; -2 where the lock is free, -3 where it is another's.

--- @include held_by, no_replica, lengthened

local count, standing, answers, as_asked = #KEYS, redis.call('MGET', unpack(KEYS)), {}, true
for nth = 1, count do
  local lock = KEYS[nth]
  local holder, ttl, overlong = ARGV[nth], ARGV[count + nth] or ARGV[count + 1], ARGV[2 * count + nth]
  answers[nth] = ttl
  if not held_by(holder, standing[nth]) then
    local current = redis.pcall('GET', lock) -- MGET does not tell another type from nothing
    no_replica(lock, current)
    answers[nth], as_asked = current and -3 or -2, false
  elseif not redis.REDIS_VERSION_NUM or redis.call('PEXPIRE', lock, ttl, 'GT') == 0 then -- GT is known from Redis 7 on, as is the number
    local left = lengthened(redis.call('PTTL', lock), ttl, overlong)
    redis.call('PEXPIRE', lock, left) -- in any case: a WAIT behind it answers for what was written
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
