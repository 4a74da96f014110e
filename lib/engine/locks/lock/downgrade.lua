-- Turn the holder's exclusive lease into a shared one, without a gap. A lease that an operator made last for ever, or in its last ms, lasts `ttl` from now. Waiting readers come in beside it and get its `token`, if it has one.
-- Returns 1 if the lease is shared now, 0 if the lock was not the holder's.
local lock, queue, seen, fence, holders, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local holder, inbox, ttl, token = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

--- @include now_us, grant_next, held_by, no_replica

local current, now, left = redis.pcall('GET', lock), now_us(), redis.call('PTTL', lock)
if current == SHARED and (redis.call('ZSCORE', holders, holder) or 0) * 1000 > now then
  return 1
elseif not held_by(holder, current) then
  no_replica(lock)
  return 0
end
left = left > 0 and left or tonumber(ttl)
current = add_holder(holder, 's', left, 1, false, now, 0)
if token then
  redis.call('SET', version, token, 'PX', left + VERSION_LIFE)
end
if redis.call('EXISTS', queue) == 1 then
  grant_next(now, current)
end
return 1
