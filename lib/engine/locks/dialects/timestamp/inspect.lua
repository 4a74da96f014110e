-- Inspect the lock, without a write: its time, and whether a holder of this library wrote it. If the time is past, nobody holds the lock.
-- Returns {type, 1 if it is a lock, ms left, last token, now, mode, {holder, or the time of another's, ms left}, its token, and its sight: `force` takes the lock only while its sight is the same}.
local lock, fence, grant, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local unit = ARGV[1]

--- @include now_us, ends_of, past_from, grant_of, still_own, sight_of

local found, now, left = redis.call('TYPE', lock).ok, now_us(), redis.call('PTTL', lock)
local current = found == 'string' and redis.call('GET', lock)
local past, own, holders = ends_of(current, unit) and past_from(current), grant_of(grant), {}
if past and past < now / 1000 and left == -1 then
  found, left = 'none', -2
elseif past then
  left = math.max(0, math.ceil(past - now / 1000))
  holders = { current, left }
end
if still_own(current, own, own.holder, unit, now) then
  holders = { own.holder, math.max(0, math.floor(ends_of(own.value, unit) - now / 1000) - 1000) }
end
return { found, past and 1 or 0, left, redis.call('GET', fence) or '', now, 'write', holders, redis.call('GET', version) or '', holders[1] and sight_of({ holders[1] }) or '' }
