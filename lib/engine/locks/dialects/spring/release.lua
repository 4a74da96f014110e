-- Release the lock if it is the holder's, wake its waiters, and grant it to native callers that queue for it; or keep it for nobody for the rest of a minimum hold. A caller that gives up names its `entry` in that queue.
-- Returns 1 if the lock was the holder's, else 0.
local lock, queue, seen, fence, holders, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local holder, publish, channel, message, older, inbox, entry, keep = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]

--- @include held_by, wake_waiters, pass_on_to_natives

if entry and entry ~= '' then
  redis.call('ZREM', queue, entry)
end
if not held_by(holder, redis.pcall('GET', lock)) then
  return 0
elseif keep then
  redis.call('PEXPIRE', lock, keep) -- Redis runs this command also when memory is short, and then the next write too
  redis.call('SET', lock, 'kept', 'PX', keep)
else
  redis.call('DEL', lock)
  wake_waiters(publish, channel, older, message)
  pass_on_to_natives()
end
redis.call('DEL', version)
return 1
