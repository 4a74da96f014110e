-- Release the lock if it is the holder's, wake its waiters if the format has a channel for them, and grant it to native callers that queue for it; or keep it for nobody for the rest of a minimum hold. A caller that gives up names its `entry` in that queue.
-- Returns 1 if the lock was the holder's, else 0.
local lock, queue, seen, fence, holders, grant, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local holder, kept, inbox, entry, publish, channel, message, older, keep, timestamp_compat = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10]

--- @include now_us, held_by, no_replica, overwritten, wake_waiters, pass_on_to_natives

if entry and entry ~= '' then
  redis.call('ZREM', queue, entry)
end
local current = redis.pcall('GET', lock)
if not held_by(holder, current) and not (timestamp_compat and overwritten(lock, grant, holder, current, now_us())) then
  no_replica(lock)
  return 0
end
redis.call('DEL', version)
if timestamp_compat then
  redis.call('DEL', grant)
end
if keep and keep ~= '' then
  redis.call('PEXPIRE', lock, keep) -- Redis runs this command also when memory is short, and then the next write too
  redis.call('SET', lock, kept, 'PX', keep)
  return 1
end
redis.call('DEL', lock)
if publish and publish ~= '' then
  wake_waiters(publish, channel, older, message)
end
if not timestamp_compat then
  pass_on_to_natives()
end
return 1
