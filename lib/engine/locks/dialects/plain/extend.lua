-- Lengthen the lease if it is still the holder's; never shorten or restore it. With timestamp_compat, the lock is rewritten if a client that lost a take-over has overwritten it.
-- Returns the ms left; -2 if the lock is free, -3 if it is another holder's.
local lock, grant, version = KEYS[1], KEYS[2], KEYS[3]
local holder, ttl, timestamp_compat = ARGV[1], tonumber(ARGV[2]), ARGV[3]

--- @include now_us, held_by, keep_version, no_replica, overwritten, remember_extension

local now = now_us()
local current = redis.pcall('GET', lock)
if not held_by(holder, current) then
  local ends = timestamp_compat and overwritten(lock, grant, holder, current, now)
  local left = ends and math.max(ttl, ends - math.floor(now / 1000))
  if left then
    redis.call('SET', lock, holder, 'PX', left)
    keep_version(version, left)
    remember_extension(grant, holder, left, now)
    return left
  end
  no_replica(lock)
  return current and -3 or -2
end
local left = redis.call('PTTL', lock)
if left >= ttl then
  return left
end
redis.call('PEXPIRE', lock, ttl)
keep_version(version, ttl)
if timestamp_compat then
  remember_extension(grant, holder, ttl, now)
end
return ttl
