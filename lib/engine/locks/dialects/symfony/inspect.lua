-- Inspect the lock, without a write.
-- Returns {type, 1 if it is a lock, ms left, last token, now, mode, {holder, ms left, ...}, its token, and its sight: `force` takes the lock only while its sight is the same}.
local lock, fence, version = KEYS[1], KEYS[2], KEYS[3]
local most = ARGV[1]

--- @include now_us, is_symfony_lock, sight_of

local found, now = redis.call('TYPE', lock).ok, now_us()
local ms, mode, holders, sight = math.floor(now / 1000), 'read', {}, ''
local is_lock = found == 'zset' and is_symfony_lock(lock, ms)
if is_lock then
  sight = sight_of(redis.call('ZRANGEBYSCORE', lock, '(' .. ms, '+inf'))
  local leases = redis.call('ZRANGEBYSCORE', lock, '(' .. ms, '+inf', 'WITHSCORES', 'LIMIT', 0, most)
  for at = 1, #leases, 2 do
    if leases[at] == '__write__' then
      mode = 'write'
    else
      holders[#holders + 1] = leases[at]
      holders[#holders + 1] = leases[at + 1] - ms
    end
  end
end
return { found, is_lock and 1 or 0, redis.call('PTTL', lock), redis.call('GET', fence) or '', now, mode, holders, redis.call('GET', version) or '', sight }
