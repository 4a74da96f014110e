-- The entries of waiters, and the heartbeats of their processes.

-- Write the heartbeat of a process: the queue in which it waits stays, and so do its entries. Once per 200 ms is enough, except in a `new` queue.
-- A heartbeat ahead of the clock was written before the clock was set back. It moves to now, so that its process has the usual time for the next one.
-- Scores from LEAST_TOKEN on are tokens, not times (`permit_token`).
-- Needs `queue` and `seen` of the script.
local function keep_waiting(process, now, new)
  local ms = math.floor(now / 1000)
  local ago = ms - (not new and redis.call('ZSCORE', seen, process) or 0)
  if ago >= 0 and ago < HEARTBEAT then
    return
  end
  redis.call('PEXPIRE', queue, QUEUE_LIFE) -- Redis runs this command also when memory is short, and then the next write too
  redis.call('ZADD', seen, ms, process)
  for _, ahead in ipairs(redis.call('ZRANGEBYSCORE', seen, ms + 1, '(LEAST_TOKEN')) do
    redis.call('ZADD', seen, ms, ahead)
  end
  redis.call('ZREMRANGEBYSCORE', seen, '-inf', ms - QUEUE_LIFE)
  redis.call('PEXPIRE', seen, QUEUE_LIFE)
end

-- Whether a waiting process has written its heartbeat lately.
-- Needs `seen` of the script.
local function is_alive(process, now)
  local last_seen = process and redis.call('ZSCORE', seen, process)
  return last_seen and now / 1000 - last_seen <= SILENCE
end

-- The arrival of a new entry at the end of the queue. A clock that steps back lets no entry overtake.
-- Needs `queue` of the script.
--- @include int_text
local function tail_of_queue(now)
  local tail = redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2]
  if tail and tonumber(tail) >= AWAITING then
    tail = redis.call('ZREVRANGEBYSCORE', queue, '(' .. int_text(AWAITING), '-inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
  end
  return int_text(math.max(now, (tonumber(tail) or 0) + 1))
end

-- The dead entries among the `entries` from rank `from` on: their processes are gone, so no script may serve or signal them. Each call looks at 100 entries, from a varying start.
-- The heartbeat of the `asker`, a process, is written before. Needs `queue` and `seen` of the script.
--- @include keep_waiting, is_alive, process_of
local function dead_among(from, entries, asker, now)
  keep_waiting(asker, now)
  local dead, alive, looks = {}, {}, math.min(entries, DEAD_LOOKS)
  from = from + now % (entries - looks + 1)
  for _, entry in ipairs(redis.call('ZRANGE', queue, from, from + looks - 1)) do
    local process = process_of(entry) or ''
    if alive[process] == nil then
      alive[process] = is_alive(process, now) or false
    end
    if not alive[process] then
      dead[#dead + 1] = entry
    end
  end
  return dead
end

-- Add an entry at the end of the queue of `waiting` entries, or at its former arrival, or keep it; write the heartbeat of its process. In a full queue, dead entries make room.
-- An entry with a former arrival gets its turn back even in a full queue: an outage makes all entries seem dead.
-- Needs `queue` and `seen` of the script. Returns the arrival, and 1 if the server had forgotten the entry. Returns false if the queue is full; entries that await a condition do not count.
--- @include dead_among, keep_waiting, pass_signal_on, tail_of_queue, int_text
local function join_queue(entry, process, arrival, limit, waiting, now)
  local came = arrival and arrival ~= ''
  local entries = limit and not came and waiting >= limit and redis.call('ZCOUNT', queue, '-inf', '(' .. int_text(AWAITING))
  local full = entries and entries >= limit
  local since, rejoined = (came or full) and redis.call('ZSCORE', queue, entry), 0
  if not since then
    local dead = full and dead_among(0, entries, process, now) or {}
    full = full and entries - #dead >= limit
    if not full then
      since, rejoined = came and arrival or tail_of_queue(now), came and 1 or 0
      if redis.call('ZADD', queue, 'NX', since, entry) == 0 then
        since = redis.call('ZSCORE', queue, entry) -- an earlier ask added it, and its answer was lost
      end
    end
    for _, gone in ipairs(dead) do
      redis.call('ZREM', queue, gone) -- dead entries go last: a queue that they had left empty could not be looked up again (see `refresh_marker`)
      local holder, condition = string.match(gone, '^([^/]+/[^/]+)/%d+/c%d+/(.+)$')
      if holder and pass_signal_on(holder, condition, now) then -- the signal outlives its dead entry
        break
      end
    end
  end
  keep_waiting(process, now, waiting == 0)
  return since, rejoined
end

-- Remove `entries`, separated by spaces, from the queue.
-- Needs `queue` of the script. Returns how many of them were in it.
local function leave_queue(entries)
  local texts = {}
  for entry in string.gmatch(entries, '%S+') do
    texts[#texts + 1] = entry
  end
  return redis.call('ZREM', queue, unpack(texts))
end

-- Whether nobody waits for the lock. Entries that await a condition do not count.
-- Needs `queue` of the script.
--- @include int_text
local function nobody_waits()
  return redis.call('EXISTS', queue) == 0 or redis.call('ZCOUNT', queue, '-inf', '(' .. int_text(AWAITING)) == 0
end

-- Tell the process of the first waiter in how many ms the lock comes free by itself: a hint to ask then.
-- Needs `lock`, `queue` and `inbox` of the script, and `process_of`.
local function notify_first(left)
  local head = redis.call('ZRANGE', queue, 0, 0)[1]
  if head then
    redis.pcall('PUBLISH', inbox .. process_of(head), 'kept ' .. left .. ' ' .. lock)
  end
end
