-- Take the lock if it is free and nobody waits before the asker; else take, or keep, the asker's place in the queue.
-- Returns {'held', ms left, now, token} | {'queued', ms left, now, arrival, rank, 1 if the server had forgotten the place} | {'busy', ms left, now} | {'full', 0, now} | {'late', 0, now} | {'foreign', type, now}.
local lock, queue, seen, fence = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local holder, ttl, mode, place, arrival, process, inbox, not_after, limit = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]

--- @include "now"
--- @include "mint-fencing-token"
--- @include "grant-next"

local now = now_us()
if now > tonumber(not_after) then
  return { 'late', 0, whole(now) }
end

local function held(left)
  return { 'held', left, whole(now), mode == 'x' and mint_fencing_token(fence, now) or '' }
end

if redis.call('EXISTS', queue) == 0 and redis.call('SET', lock, holder, 'NX', 'PX', ttl) then
  return held(tonumber(ttl))
end

local current = redis.pcall('GET', lock)
if type(current) == 'table' then
  return { 'foreign', redis.call('TYPE', lock).ok, whole(now) }
end
if current == holder then
  local token = mode == 'x' and redis.call('GET', fence)
  local left = redis.call('PTTL', lock)
  return token and { 'held', left, whole(now), token } or held(left)
end

if place == '' then
  if not current and not grant_next(lock, queue, seen, fence, inbox, now) and redis.call('EXISTS', queue) == 0 then
    redis.call('SET', lock, holder, 'PX', ttl)
    return held(tonumber(ttl))
  end
  return { 'busy', redis.call('PTTL', lock), whole(now) }
end

local since, rejoined = redis.call('ZSCORE', queue, place), 0
if not since then
  if redis.call('ZCARD', queue) >= tonumber(limit) then
    return { 'full', 0, whole(now) }
  end
  rejoined = arrival == '' and 0 or 1
  if arrival == '' then
    local tail = redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')
    arrival = whole(math.max(now, (tonumber(tail[2]) or 0) + 1))
  end
  redis.call('ZADD', queue, 'NX', arrival, place)
  redis.call('ZREMRANGEBYSCORE', seen, '-inf', whole(now / 1000 - 60000))
  since = arrival
end
redis.call('PEXPIRE', queue, 60000) -- never refused: lets the next line pass when memory is short
redis.call('ZADD', seen, whole(now / 1000), process)
redis.call('PEXPIRE', seen, 60000)

if not current and grant_next(lock, queue, seen, fence, inbox, now, place) == place then
  return held(tonumber(ttl))
end
return { 'queued', redis.call('PTTL', lock), whole(now), since, redis.call('ZRANK', queue, place), rejoined }
