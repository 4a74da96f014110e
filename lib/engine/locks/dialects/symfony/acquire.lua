-- Take the lock to write if it is free, or to read if nobody writes. Each holder is a member scored by the end of its lease; a writer has the member '__write__' beside it. An acquisition removes expired leases.
-- Returns {kind, ms left or the foreign type, now, token}; readers have one token, above that of the last writer.
local lock, fence, version = KEYS[1], KEYS[2], KEYS[3]
local holder, ttl, tokens, not_after, mode = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

--- @include now_us, mint_fencing_tokens, holders_token, is_symfony_lock, written_lease

local now = now_us()
if now > tonumber(not_after) then
  return { 'late', 0, now, -1 }
end
local found = redis.call('TYPE', lock).ok
local ms, reads = math.floor(now / 1000), mode == 'read'
if found == 'zset' then
  local mine = redis.call('ZSCORE', lock, holder)
  if mine and tonumber(mine) > ms then
    return { 'held', mine - ms, now, holders_token(fence, version, now, tokens, true, ttl, reads) }
  elseif not is_symfony_lock(lock, ms) then
    return { 'foreign', found, now, -1 }
  end
  local written = redis.call('ZSCORE', lock, '__write__')
  local others = redis.call('ZCOUNT', lock, '(' .. ms, '+inf')
  if others > 0 and not (reads and not (written and tonumber(written) > ms)) then
    return { 'busy', redis.call('PTTL', lock), now, -1 }
  end
  redis.call('ZREMRANGEBYSCORE', lock, '-inf', ms)
elseif found ~= 'none' then
  return { 'foreign', found, now, -1 }
end
written_lease(lock, holder, ms + ttl, not reads)
return { 'held', tonumber(ttl), now, holders_token(fence, version, now, tokens, reads, ttl, reads) }
