-- Give the lock back if it is the holder's, wake one who waits for it, and let native callers in who queue for it. Who leaves says its entry in their queue.
-- Returns 1 if it was the holder's, else 0.
local lock, queue, seen, fence, holders, signal, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local holder, inbox, entry = ARGV[1], ARGV[2], ARGV[3]

--- @include held_by, free_and_signal, pass_on_to_natives

if entry then
  redis.call('ZREM', queue, entry)
end
if not held_by(holder, redis.pcall('GET', lock)) then
  return 0
end
free_and_signal(lock, signal)
redis.call('DEL', version)
pass_on_to_natives()
return 1
