-- Those who await a condition, at the end of the queue.

-- Where those who await one condition stand in the queue: from the first score on, and before the second. Two conditions of a lock have the same band once in a million, so an entry in it is told by its name still.
local function band_of(condition)
  local first = AWAITING + tonumber(string.sub(redis.sha1hex(condition), 1, 5), 16) * CONDITION_BAND
  return first, first + CONDITION_BAND
end

-- Wake the first who await a condition and live, `most` of them, and no later one than `till`: their entries go to the end of the queue, as those that were signalled. The dead are removed.
-- It ends when it has dealt with 125 entries. Needs `queue` and `seen` of the script. Returns how many were woken, and whether more may be there.
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
      return woken, false -- nobody looks at a queue that may be empty now: `refresh_marker` says why
    end
    size = size * 8
  end
  return woken, woken < most
end

-- Wake the next who awaits a condition and lives, because who was signalled cannot. Where so many are dead that the script would be long, an entry
-- of nobody, as dead as they are, stands at `arrival` instead, or at the end of the queue: whoever comes to it goes on with the signal.
-- Needs `queue` and `seen` of the script. Returns whether such an entry is left.
--- @include signal_next, tail_of_queue
local function pass_signal_on(holder, condition, now, arrival)
  local _, more = signal_next(condition, now, 1)
  if more then
    redis.call('ZADD', queue, arrival or tail_of_queue(now), 'nobody' .. string.match(holder, '/.*') .. '/1/c0/' .. condition)
  end
  return more
end
