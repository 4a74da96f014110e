-- Take one share of the lock, or some permits, if they are free and nobody waits before the asker; otherwise add or keep its entry in the queue.
-- Returns as acquire.lua of the exclusive lock does.
local lock, queue, seen, fence, holders, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local holder, ttl, tokens, not_after, inbox, limit, arrival, kind, permits, count, timestamp_compat = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11]

--- @include now_us, fits, add_holder, members_of, nobody_waits

local now = now_us()
if now > tonumber(not_after) then
  return { 'late', 0, now, 0 }
end

local function held(left, token, minted)
  return { 'held', left, now, 0, token, minted }
end

local current, marker = redis.pcall('GET', lock), kind == 's' and SHARED or PERMITS
if type(current) == 'table' then
  return { 'foreign', redis.call('TYPE', lock).ok, now, 0 }
end
if current ~= marker then
  current = standing(current, now)
end
if current == PERMITS and kind == 's' then
  return { 'foreign', 'semaphore', now, 0 }
elseif kind == 'p' and current and (current == SHARED or string.find(current, '^[%w_-]+%.%d+%.[%w_-]+/[%w_-]+/?%d*$')) then
  return { 'foreign', 'lock', now, 0 }
elseif current == marker then
  local ends = tonumber(redis.call('ZSCORE', holders, member_of(holder, count)) or 0)
  if ends * 1000 > now then
--- @include rewrite
    rewrite(lock, redis.call('PTTL', lock))
    local left = ends - math.floor(now / 1000)
    if tokens == '0' then
      return held(left, -1, 0)
    end
    return held(left, kind == 's' and plant_version(now) or tonumber(redis.call('ZSCORE', seen, holder) or permit_token(holder, now)), 1)
  end
end

local function take()
  if nobody_waits() and fits(current, kind, permits, count, now) then
    local _, token, minted = add_holder(holder, kind, ttl, count, current, now, tonumber(tokens))
    return held(tonumber(ttl), token, minted)
  end
end

local taken = take()
if taken then
  return taken
end

--- @include ends_in, join_queue, grant_next, process_of

if limit == '0' then
  grant_next(now, current)
  current = redis.call('GET', lock)
  return take() or { 'busy', 0, now, 0 }
end

local entry = holder .. '/' .. ttl .. '/' .. kind .. tokens .. (kind == 'p' and '/' .. permits .. '/' .. count or '')
local since, rejoined = join_queue(entry, process_of(holder), arrival, tonumber(limit), redis.call('ZCARD', queue), now)
if not since then
  grant_next(now, current) -- `join_queue` has removed dead entries, so a waiter behind them may be next
  return { 'full', 0, now, 0 }
end
local granted = grant_next(now, current, entry)
if granted then
  return held(tonumber(ttl), unpack(granted))
end
local left = ends_in(now, timestamp_compat)
if redis.call('GET', lock) == PERMITS then
  local ms = math.floor(now / 1000)
  local first = redis.call('ZRANGEBYSCORE', holders, '(' .. ms, FIRSTS, 'WITHSCORES', 'LIMIT', 0, 1)
  left = (first[2] or 0) - ms
end
return { 'queued', left, now, 0, since, redis.call('ZRANK', queue, entry), rejoined }
