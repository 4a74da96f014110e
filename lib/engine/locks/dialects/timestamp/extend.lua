-- Move the holder's time on, while it has not come and the lock is the holder's; never move it back. The lock is rewritten if a client that lost a take-over has overwritten it.
-- Returns the ms left; -2 if the lock is free, -3 if it is another holder's.
local lock, grant, version = KEYS[1], KEYS[2], KEYS[3]
local holder, ttl, unit, lasting = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]

--- @include now_us, keep_version, no_replica, timestamp, ends_of, grant_of, still_own, write_timestamp

local own = grant_of(grant)
local current, now = redis.pcall('GET', lock), now_us()
if not still_own(current, own, holder, unit, now) then
  no_replica(lock)
  return current and -3 or -2
end
local left = math.floor(ends_of(own.value, unit) - now / 1000) - 1000
if left < ttl then
  write_timestamp(lock, grant, holder, timestamp(now, ttl, unit), unit, lasting, now)
elseif current ~= own.value then
  write_timestamp(lock, grant, holder, own.value, unit, lasting, now)
end
keep_version(version, math.max(left, ttl))
return math.max(left, ttl)
