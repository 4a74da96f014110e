-- Release the asker's former lease, if it names one. Then take the lock if it is free and nobody waits before the asker; otherwise add or keep its entry in the queue.
-- Returns the clock alone for 'held for the whole ttl, with all tokens, the first of which is the clock'. Otherwise {kind, ms left, now, 1 if the former lease was the asker's, …}. 'held' adds token and number of tokens; 'queued' adds arrival, rank, and 1 if the server had forgotten the entry. The other kinds are 'busy', 'full', 'late', and 'foreign', whose ms left is the foreign type.
local lock, queue, seen, fence, holders, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local holder, ttl, tokens, not_after, inbox, limit, arrival, former, timestamp_compat = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]

--- @include now_us, held_by, mint_together

local now = now_us()
if now > tonumber(not_after) then
  return { 'late', 0, now, 0 }
end

local gave_back = 0
if former and former ~= '' and held_by(former, redis.pcall('GET', lock)) then
  gave_back = redis.call('DEL', lock)
end

if gave_back == 0 and redis.call('EXISTS', lock, queue, version) == 0 then
  if tokens == '0' then
    redis.call('SET', lock, holder, 'PX', ttl)
    return now
  end
  local token, count = mint_together(fence, now, tonumber(tokens))
  redis.call('SET', lock, holder .. '/' .. token_text(token), 'PX', ttl)
  return token == now and now or { 'held', tonumber(ttl), now, 0, token, count }
end

--- @include first_token, hold_alone, rewrite

local function held(left, token, count)
  return { 'held', left, now, gave_back, token, count }
end
local waiting, current = redis.call('ZCARD', queue), redis.pcall('GET', lock)
if type(current) == 'table' then
  return { 'foreign', redis.call('TYPE', lock).ok, now, 0 }
elseif held_by(holder, current) then
  local left = redis.call('PTTL', lock)
  rewrite(lock, left)
  return held(left, first_token(current, holder))
elseif not current and waiting == 0 then
  local _, token, count = hold_alone(holder, ttl, tonumber(tokens), now)
  return held(tonumber(ttl), token, count)
end

--- @include ends_in, join_queue, process_of

local entry, since, rejoined = holder .. '/' .. ttl .. '/x' .. tokens, nil, nil
local function join()
  if limit ~= '0' then
    since, rejoined = join_queue(entry, process_of(holder), arrival, gave_back == 0 and tonumber(limit), waiting, now)
  end
end
local function unheld()
  if not since then
    return { limit == '0' and 'busy' or 'full', 0, now, gave_back }
  end
  local rank = redis.call('ZRANK', queue, entry)
  local left = rank > 1 and -1 or ends_in(now, timestamp_compat)
  return { 'queued', left, now, gave_back, since, rank, rejoined }
end
if current and current ~= SHARED and current ~= PERMITS then
  join()
  return unheld()
end

--- @include standing

current = standing(current, now)
if current == PERMITS then
  return { 'foreign', 'semaphore', now, 0 }
end
join()

--- @include grant_next, nobody_waits

local granted = grant_next(now, current, since and entry)
if granted then
  return held(tonumber(ttl), unpack(granted))
elseif limit == '0' and not standing(redis.call('GET', lock), now) and nobody_waits() then
  local _, token, count = add_holder(holder, 'x', ttl, 1, false, now, tonumber(tokens))
  return held(tonumber(ttl), token, count)
end
return unheld()
