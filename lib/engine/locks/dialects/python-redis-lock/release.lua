-- Release the lock if it is the holder's, wake one waiter, and grant the lock to native callers that queue for it. A caller that gives up names its `entry` in that queue.
-- Returns 1 if the lock was the holder's, else 0.
local lock, queue, seen, fence, holders, signal, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local holder, inbox, entry = ARGV[1], ARGV[2], ARGV[3]

--- @include held_by, no_replica, free_and_signal, pass_on_to_natives

if entry then
  redis.call('ZREM', queue, entry)
end
if not held_by(holder, redis.pcall('GET', lock)) then
  no_replica(lock)
  return 0
end
free_and_signal(lock, signal)
redis.call('DEL', version)
pass_on_to_natives()
return 1
