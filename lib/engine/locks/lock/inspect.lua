-- Inspect a lock, without a write.
-- Returns {type, holder or marker, ms left, token, now, entries waiting, {holder or holder#permits, end, ...}, {entry, arrival, ...}, number of entries that await conditions, and its sight: `force` takes the lock only while its sight is the same}.
local lock, queue, fence, holders = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local most = ARGV[1]

--- @include now_us, standing, members_of, sight_of_lock, int_text

local kind, now, awaiting = redis.call('TYPE', lock).ok, now_us(), int_text(AWAITING)
local current, beside = kind == 'string' and redis.call('GET', lock) or '', {}
if not standing(current, now) then
  kind, current = 'none', ''
end
if current == SHARED or current == PERMITS then
  beside = redis.call('ZRANGEBYSCORE', holders, '(' .. math.floor(now / 1000), FIRSTS, 'WITHSCORES', 'LIMIT', 0, most)
end
return {
  kind, current, kind == 'none' and -2 or redis.call('PTTL', lock), redis.call('GET', fence) or '', now, redis.call('ZCOUNT', queue, '-inf', '(' .. awaiting),
  beside, redis.call('ZRANGEBYSCORE', queue, '-inf', '(' .. awaiting, 'WITHSCORES', 'LIMIT', 0, most),
  redis.call('ZCOUNT', queue, awaiting, '+inf'), kind == 'string' and sight_of_lock(current, now) or '',
}
