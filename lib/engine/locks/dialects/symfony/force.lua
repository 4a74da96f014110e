-- Take the lock from all its holders, if the sorted set is a lock, and tell holders of ours.
-- Returns {the Redis type that was found, 1 if it was a lock; 2, without a change, if the holders are not those of `sight`}.
local lock, version = KEYS[1], KEYS[2]
local inbox, sight = ARGV[1], ARGV[2]

--- @include now_us, is_symfony_lock, tell_forced, sight_of

local found, ms = redis.call('TYPE', lock).ok, math.floor(now_us() / 1000)
if found ~= 'zset' or not is_symfony_lock(lock, ms) then
  return { found, 0 }
end
local holders = redis.call('ZRANGEBYSCORE', lock, '(' .. ms, '+inf')
if sight and sight_of(holders) ~= sight then
  return { found, 2 }
end
redis.call('DEL', lock, version)
tell_forced(inbox, holders)
return { found, 1 }
