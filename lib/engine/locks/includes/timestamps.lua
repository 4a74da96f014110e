-- Locks whose value is a time, as the SETNX articles and their clients write them.

-- The moment that a client of the SETNX articles wrote, in seconds since the epoch, if the whole value is such a moment. It is in seconds, or in ms if as seconds it would be in the year 5000.
-- A moment before 2001 is refused, so that no id or flag of another client is taken for one.
local function moment_of(value)
  local number = tonumber(string.match(value, '^%d+%.?%d*$'))
  if number and number >= 1e11 then
    number = number / 1000
  end
  return number and number >= 1e9 and number or nil
end

-- The ms until a waiter may find the lock free: when its value expires. With timestamp_compat, the value may be the time of a client of the SETNX articles, and go at any moment: that client releases by a DEL without a message. The wait is then 10 to 50 ms.
-- Negative if nothing ends the lock. Needs `lock` of the script.
--- @include moment_of
local function ends_in(now, timestamp_compat)
  local left = redis.call('PTTL', lock)
  local current = timestamp_compat and left == -1 and redis.pcall('GET', lock)
  if type(current) == 'string' and moment_of(current) then
    return 10 + now % 40
  end
  return left
end

-- The moment that a timestamp names, in ms since the epoch; nil unless the whole value is a number and its unit puts the moment between 2001 and 5138. A token, an id or a flag of another client is no time.
local function ends_of(value, unit)
  local text = value or ''
  local number = tonumber(string.match(text, '^%d+$') or string.match(text, '^%d+%.%d+$'))
  local ends = number and (unit == 'ms' and number or number * 1000)
  return ends and ends >= 1e12 and ends < 1e14 and ends or nil
end

-- The moment from which a time of the articles' clients is past, in ms since the epoch. A time in whole seconds is past when its second is over.
-- Those clients compare whole seconds too. Before that moment they may delete, as their own, a lock that has become another's.
local function past_from(value)
  local number = tonumber(value)
  if number >= 1e11 then
    return number
  end
  return (string.find(value, '.', 1, true) and number or number + 1) * 1000
end

-- The time to write for a lock that is held for `ms` from now, in the unit of its clients. It is a second later, as in the SETNX articles, because a client that loses a take-over overwrites it with a time that the client computed before.
-- The time is rounded up: the ms left are read from it again, and an extension must not find less than the holder was told.
local function timestamp(now, ms, unit)
  local ends = now / 1000 + ms + 1000
  if unit == 's' then
    return string.format('%.0f', math.ceil(ends / 1000))
  elseif unit == 'float' then
    return string.format('%.6f', ends / 1000)
  end
  return string.format('%.0f', math.ceil(ends))
end

-- What our last holder of a timestamp lock wrote there, when (ms since the epoch), and its id: the lock itself shows none of these. An empty table if nothing is known.
local function grant_of(grant)
  local value, written, holder = string.match(redis.call('GET', grant) or '', '^(%S+) (%d+) (.+)$')
  return { value = value, written = tonumber(written), holder = holder }
end

-- Whether a timestamp lock still belongs to `holder`, by the record `own` (of `grant_of`): the recorded time stands there and has not come.
-- For a second after the record was written, another future time may stand there. A client that lost a take-over, to this holder or an earlier one, wrote it all the same.
-- After that second, such a time is a third client's. Needs `ends_of`.
local function still_own(current, own, holder, unit, now)
  if holder == nil or own.holder ~= holder or type(current) ~= 'string' then
    return false
  end
  local ms, mine, stands = now / 1000, ends_of(own.value, unit), ends_of(current, unit)
  if not mine or mine <= ms or not stands or stands <= ms then
    return false
  end
  return current == own.value or ms - own.written < TAKE_OVER_MEMORY
end

-- Record beside a timestamp lock the value that a holder wrote into it, and when, for as long as the lease lasts. Needs `ends_of`.
local function write_grant(grant, holder, value, unit, now)
  local text = string.format('%s %.0f %s', value, math.floor(now / 1000), holder)
  redis.call('SET', grant, text, 'PX', math.ceil(ends_of(value, unit) - now / 1000))
end

-- Write a holder's time into the lock, and the holder beside it. With `lasting`, Redis does not expire the lock: a caller that finds its time past takes it over. Needs `ends_of`.
--- @include write_grant
local function write_timestamp(lock, grant, holder, value, unit, lasting, now)
  if lasting == '1' then
    redis.call('SET', lock, value)
  else
    redis.call('SET', lock, value, 'PX', math.ceil(ends_of(value, unit) - now / 1000))
  end
  write_grant(grant, holder, value, unit, now)
end

-- Whether a client that lost a take-over, to this holder or an earlier one, has overwritten the lock: it now has a future moment that Redis does not expire.
-- `grant` remembers the holder for a second, or a shorter lease; within that time the moment can be no third client's. Returns when the holder's own lease ends, in ms since the epoch; nil if the lock was not overwritten.
--- @include moment_of
local function overwritten(lock, grant, holder, current, now)
  local ends, who = string.match(redis.call('GET', grant) or '', '^(%d+) (.+)$')
  local moment = who == holder and type(current) == 'string' and moment_of(current)
  if moment and moment > now / 1e6 and redis.call('PTTL', lock) == -1 then
    return tonumber(ends)
  end
  return nil
end

-- Record the holder beside a plain lock with timestamp_compat and the end of its lease, for a second or a shorter lease. `overwritten` reads the record.
local function remember_holder(grant, holder, lease, now)
  redis.call('SET', grant, string.format('%.0f %s', math.floor(now / 1000) + lease, holder), 'PX', math.min(TAKE_OVER_MEMORY, lease))
end

-- Update the recorded end after an extension, while the record exists. Short memory must not refuse the extension, so errors are ignored.
local function remember_extension(grant, holder, lease, now)
  redis.pcall('SET', grant, string.format('%.0f %s', math.floor(now / 1000) + lease, holder), 'XX', 'KEEPTTL')
end
