-- Take the lock from its holder, if a time stands there, and tell a holder of ours. A time that is past is nobody's, and stays.
-- Returns {the Redis type that was found or 'none', 1 if it was a lock; 2, without a change, if the holder is not that of `sight`}.
local lock, grant, version = KEYS[1], KEYS[2], KEYS[3]
local unit, inbox, sight = ARGV[1], ARGV[2], ARGV[3]

--- @include now_us, ends_of, past_from, grant_of, still_own, tell_forced, sight_of

local found, now = redis.call('TYPE', lock).ok, now_us()
local current = found == 'string' and redis.call('GET', lock)
if not ends_of(current, unit) then
  return { found, 0 }
elseif past_from(current) < now / 1000 and redis.call('PTTL', lock) == -1 then
  return { 'none', 0 }
end
local own = grant_of(grant)
local is_ours = still_own(current, own, own.holder, unit, now)
if sight and sight_of({ is_ours and own.holder or current }) ~= sight then
  return { found, 2 }
end
redis.call('DEL', lock, grant, version)
if is_ours then
  tell_forced(inbox, { own.holder })
end
return { found, 1 }
