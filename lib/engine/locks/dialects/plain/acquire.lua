-- Take the lock if the key is free, or if a native caller handed the lock to the asker. With timestamp_compat, also if a client of the SETNX articles left a time that is past. With `limit`, an asker that finds a native holder joins the native queue.
-- Returns {kind, ms left or the foreign type, now, token, more}. For 'held' with timestamp_compat, more is 1: a client that lost a take-over may still overwrite the lock. For 'busy', more is 1 if the asker is queued. It is 2 if further callers of its process may queue now, or one of them was granted the lock.
local lock, queue, seen, fence, grant, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local holder, ttl, tokens, not_after, limit, timestamp_compat = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

--- @include now_us, mint_fencing_tokens, holders_token, moment_of, past_from, overwritten, remember_holder, held_by, first_token

local now = now_us()
local queues = limit and not timestamp_compat
local entry = holder .. '/' .. ttl .. '/x' .. tokens
if now > tonumber(not_after) then
  return { 'late', 0, now, -1 }
elseif redis.call('SET', lock, holder, 'NX', 'PX', ttl) then
  if queues then
    redis.call('ZREM', queue, entry)
  end
  if timestamp_compat then
    remember_holder(grant, holder, tonumber(ttl), now)
  end
  return { 'held', tonumber(ttl), now, holders_token(fence, version, now, tokens, false, ttl), timestamp_compat and 1 }
end
local current = redis.pcall('GET', lock)
if type(current) == 'table' then
  return { 'foreign', redis.call('TYPE', lock).ok, now, -1 }
elseif held_by(holder, current) then
  local token = first_token(current, holder)
  if token < 0 then
    token = holders_token(fence, version, now, tokens, true, ttl)
  else
    redis.call('SET', version, int_text(-token), 'PX', ttl + VERSION_LIFE) -- as `holders_token` writes it
    redis.call('SET', lock, holder, 'KEEPTTL')
  end
  return { 'held', redis.call('PTTL', lock), now, token, timestamp_compat and 1 }
end
local left = redis.call('PTTL', lock)
local again = timestamp_compat and overwritten(lock, grant, holder, current, now) ~= nil
local past = timestamp_compat and left == -1 and moment_of(current) and past_from(current)
if again or past and past < now / 1000 then
  redis.call('SET', lock, holder, 'PX', ttl)
  remember_holder(grant, holder, tonumber(ttl), now)
  return { 'held', tonumber(ttl), now, holders_token(fence, version, now, tokens, again, ttl), 1 }
elseif not queues then
  return { 'busy', left, now, -1 }
end

--- @include is_native_holder, join_queue, process_of

local stands, process = redis.call('ZSCORE', queue, entry), process_of(holder)
if not stands and not is_native_holder(current) or not join_queue(entry, process, nil, tonumber(limit), redis.call('ZCARD', queue), now) then
  return { 'busy', left, now, -1 }
end
local unnoticed = process_of(current) == process and string.find(current, '~/', 1, true)
return { 'busy', left, now, -1, (unnoticed or not stands) and 2 or 1 }
