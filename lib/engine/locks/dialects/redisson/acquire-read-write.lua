-- Take an RReadWriteLock to read or to write. A reader writes the end of its lease to a key of its own: without that key, the next Java reader to leave would delete the lock.
-- Returns {kind, ms left or the foreign type, now, token}; readers have one token, above that of the last writer.
local lock, fence, hold, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local holder, ttl, tokens, not_after, mode = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

--- @include now_us, mint_fencing_tokens, holders_token, is_redisson_lock

local now = now_us()
if now > tonumber(not_after) then
  return { 'late', 0, now, -1 }
end
local found = redis.call('TYPE', lock).ok
if found ~= 'none' and found ~= 'hash' then
  return { 'foreign', found, now, -1 }
end
local left, reads = redis.call('PTTL', lock), mode == 'read'
if redis.call('HEXISTS', lock, holder) == 1 then
  left = reads and redis.call('PTTL', hold) or left
  if left > 0 then
    if redis.call('PTTL', lock) < left then
      redis.call('PEXPIRE', lock, left) -- a Java reader has shortened the lock
    end
    return { 'held', left, now, holders_token(fence, version, now, tokens, true, ttl, reads) }
  end
end
if found == 'hash' and not is_redisson_lock(lock) then
  return { 'foreign', found, now, -1 }
elseif found == 'hash' and not (reads and redis.call('HGET', lock, 'mode') == 'read') then
  return { 'busy', redis.call('PTTL', lock), now, -1 }
end
redis.call('HSET', lock, 'mode', mode, holder, 1)
if reads then
  redis.call('SET', hold, 1, 'PX', ttl)
end
if redis.call('PTTL', lock) < tonumber(ttl) then
  redis.call('PEXPIRE', lock, ttl)
end
return { 'held', tonumber(ttl), now, holders_token(fence, version, now, tokens, reads, ttl, reads) }
