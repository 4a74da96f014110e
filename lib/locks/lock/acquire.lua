-- Give back the asker's former lease, if it names one; then take the lock if it is free and nobody waits before the asker, else take, or keep, its entry in the queue.
-- Returns the clock alone for 'held for the whole ttl, with all tokens, the first of which is the clock'; else {kind, ms left, now, 1 if the former lease was its}, then for 'held' token, tokens; for 'queued' arrival, rank, 1 if the server had forgotten the entry; kinds without more are 'busy', 'full', 'late', and 'foreign', with what stands there for ms left.
local lock, queue, seen, fence, holders = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local holder, ttl, tokens, not_after, inbox, limit, arrival, former, timestamp_compat = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]

--- @include "now"
--- @include "mint-fencing-tokens"

local now = now_us()
if now > tonumber(not_after) then
  return { 'late', 0, now, 0 }
end

local gave_back = 0
if former and former ~= '' and redis.pcall('GET', lock) == former then
  gave_back = redis.call('DEL', lock)
end

local waiting = redis.call('ZCARD', queue)
if waiting == 0 and redis.call('SET', lock, holder, 'NX', 'PX', ttl) then
  local token, count = -1, 0
  if tokens ~= '0' then
    token, count = mint_fencing_tokens(fence, now, tonumber(tokens))
  end
  if gave_back == 0 and (token == now or count == 0) then
    return now
  end
  return { 'held', tonumber(ttl), now, gave_back, token, count }
end

local function held(left)
  if tokens == '0' then
    return { 'held', left, now, gave_back, -1, 0 }
  end
  local token, count = mint_fencing_tokens(fence, now, tonumber(tokens))
  return { 'held', left, now, gave_back, token, count }
end

--- @include "rewrite"

local current = redis.pcall('GET', lock)
if type(current) == 'table' then
  return { 'foreign', redis.call('TYPE', lock).ok, now, 0 }
elseif current == holder then
  local token = tokens ~= '0' and redis.call('GET', fence)
  local left = redis.call('PTTL', lock)
  rewrite(lock, left)
  return token and { 'held', left, now, gave_back, tonumber(token), 1 } or held(left)
end

local compat_end
if timestamp_compat then
--- @include "ends-in"
  compat_end = ends_in
end

--- @include "join-queue"
--- @include "process-of"

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
  local left = rank > 1 and -1 or compat_end and compat_end(now) or redis.call('PTTL', lock)
  return { 'queued', left, now, gave_back, since, rank, rejoined }
end
if current and current ~= SHARED and current ~= PERMITS then
  join()
  return unheld()
end

--- @include "standing"

current = standing(current, now)
if current == PERMITS then
  return { 'foreign', 'semaphore', now, 0 }
end
join()

--- @include "grant-next"
--- @include "nobody-waits"

if grant_next(now, current, since and entry) then
  return held(tonumber(ttl))
elseif limit == '0' and not standing(redis.call('GET', lock), now) and nobody_waits() then
  hold(holder, 'x', ttl, 1, false, now)
  return held(tonumber(ttl))
end
return unheld()
