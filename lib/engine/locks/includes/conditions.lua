-- Entries that await a condition, at the end of the queue.

-- The band of scores in which entries await one condition: from the first score on, below the second. Two conditions of a lock share a band once in a million, so an entry is also matched by the condition's name.
local function band_of(condition)
  local first = AWAITING + tonumber(string.sub(redis.sha1hex(condition), 1, 5), 16) * CONDITION_BAND
  return first, first + CONDITION_BAND
end

-- Signal the first `most` living entries that await a condition, none beyond score `till`: each moves to the end of the queue as signalled. Dead entries are removed.
-- One call handles 125 entries at most. Needs `queue` and `seen` of the script. Returns how many entries were signalled, and whether more may be left.
--- @include band_of, is_alive, tail_of_queue
local function signal_next(condition, now, most, till)
  local first, beyond = band_of(condition)
  local woken, left, others, alive, size = 0, SIGNALS, 0, {}, most
  while woken < most and left > 0 do
    size = math.min(size, left)
    local found = redis.call('ZRANGEBYSCORE', queue, int_text(first), till or '(' .. int_text(beyond), 'LIMIT', others, size + 1)
    local tail, gone, signalled = tonumber(tail_of_queue(now)), {}, {}
    for nth = 1, math.min(#found, size) do
      local entry = found[nth]
      if woken == most then
        break
      end
      local stem, process, tokens, awaited = string.match(entry, '^(([^/]+)/[^/]+/%d+)/w(%d+)/([^/]+)$')
      if awaited == condition then
        gone[#gone + 1] = entry
        if alive[process] == nil then
          alive[process] = is_alive(process, now) or false
        end
        if alive[process] then
          signalled[#signalled + 1] = int_text(tail + #signalled / 2)
          signalled[#signalled + 1] = stem .. '/c' .. tokens .. '/' .. condition
          woken = woken + 1
        end
      else
        others = others + 1
      end
    end
    left = left - #gone
    if #signalled > 0 then
      redis.call('ZADD', queue, unpack(signalled))
      redis.call('PEXPIRE', queue, QUEUE_LIFE)
    end
    if #gone > 0 then
      redis.call('ZREM', queue, unpack(gone))
    end
    if #found <= size then
      return woken, false -- no lookup: the queue may be empty (see `refresh_marker`)
    end
    size = size * 8
  end
  return woken, woken < most
end

-- Signal the next living entry, because the signalled one cannot use its signal. If too many entries are dead for one script, a placeholder entry of nobody, dead from the start, stands at `arrival` or at the end of the queue.
-- Whichever script meets the placeholder passes the signal on. Needs `queue` and `seen` of the script. Returns whether a placeholder was left.
--- @include signal_next, tail_of_queue
local function pass_signal_on(holder, condition, now, arrival)
  local _, more = signal_next(condition, now, 1)
  if more then
    redis.call('ZADD', queue, arrival or tail_of_queue(now), 'nobody' .. string.match(holder, '/.*') .. '/1/c0/' .. condition)
  end
  return more
end
