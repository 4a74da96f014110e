-- Locks that are a time, of the SETNX articles and their clients.

-- The moment that a client of the SETNX articles wrote, in seconds since the epoch, if all of a value is one and it is
-- not before 2001: in seconds, or in ms where so many seconds would be in the year 5000. No id or flag of another client is taken for one.
local function moment_of(value)
  local number = tonumber(string.match(value, '^%d+%.?%d*$'))
  if number and number >= 1e11 then
    number = number / 1000
  end
  return number and number >= 1e9 and number or nil
end

-- In how many ms whoever waits beside clients of the SETNX articles may find the lock free: when what stands there ends by itself; soon, where a time of such a client
-- stands: it gives the lock back by a DEL of which nobody is told. Negative where nothing ends it. Needs `lock` of the script.
--- @include moment_of
local function ends_in(now)
  local left = redis.call('PTTL', lock)
  local current = left == -1 and redis.pcall('GET', lock)
  if type(current) == 'string' and moment_of(current) then
    return 10 + now % 40
  end
  return left
end

-- The moment that a timestamp names, in ms since the epoch; nil where not all of the value is a number, or its unit would
-- put the moment before 2001 or after 5138: a token, an id or a flag of another client is no time.
local function ends_of(value, unit)
  local text = value or ''
  local number = tonumber(string.match(text, '^%d+$') or string.match(text, '^%d+%.%d+$'))
  local ends = number and (unit == 'ms' and number or number * 1000)
  return ends and ends >= 1e12 and ends < 1e14 and ends or nil
end

-- From when on a time of the SETNX articles' clients is past, in ms since the epoch. One in whole seconds is past when its second is
-- over: those clients compare whole seconds too, and until then may delete, as their own, what has become another's.
local function past_from(value)
  local number = tonumber(value)
  if number >= 1e11 then
    return number
  end
  return (string.find(value, '.', 1, true) and number or number + 1) * 1000
end

-- What is written for a lock that is held so many ms from now, in the unit of its clients: a second more, as in the
-- articles, because who loses a take-over writes what it reckoned when it began. Rounded up: what is
-- left is read from it again, and an extension must not find less than the holder was told.
local function timestamp(now, ms, unit)
  local ends = now / 1000 + ms + 1000
  if unit == 's' then
    return string.format('%.0f', math.ceil(ends / 1000))
  elseif unit == 'float' then
    return string.format('%.6f', ends / 1000)
  end
  return string.format('%.0f', math.ceil(ends))
end

-- What the last of us to take a timestamp lock wrote there, when (ms since the epoch), and the holder: the lock itself
-- says none of it. An empty table where nothing is known.
local function grant_of(grant)
  local value, written, holder = string.match(redis.call('GET', grant) or '', '^(%S+) (%d+) (.+)$')
  return { value = value, written = tonumber(written), holder = holder }
end

-- Whether a timestamp lock is the holder's that `own` (of `grant_of`) names: the holder's time stands there and has not come.
-- For a second after it was written, another time to come may stand there: that of a client that lost a take-over, to this
-- holder or to another before it, and wrote all the same. Afterwards it is a third client's. Needs `ends_of`.
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

-- Write beside a timestamp lock what a holder wrote into it, and when, for as long as it holds. Needs `ends_of`.
local function write_grant(grant, holder, value, unit, now)
  local text = string.format('%s %.0f %s', value, math.floor(now / 1000), holder)
  redis.call('SET', grant, text, 'PX', math.ceil(ends_of(value, unit) - now / 1000))
end

-- Write that a holder has the lock until a moment, and beside it who that is. With `lasting`, Redis does not end the
-- lock: whoever finds it past takes it over. Needs `ends_of`.
--- @include write_grant
local function write_timestamp(lock, grant, holder, value, unit, lasting, now)
  if lasting == '1' then
    redis.call('SET', lock, value)
  else
    redis.call('SET', lock, value, 'PX', math.ceil(ends_of(value, unit) - now / 1000))
  end
  write_grant(grant, holder, value, unit, now)
end

-- Whether a client that lost a take-over, to this holder or to another before it, has written over it: a moment to come stands
-- there, and nothing ends it. `grant` remembers the holder for a second, or a shorter lease; within it, the moment can be no third client's.
-- Returns when the holder's own lease ends, in ms since the epoch; nil if it was not overwritten.
--- @include moment_of
local function overwritten(lock, grant, holder, current, now)
  local ends, who = string.match(redis.call('GET', grant) or '', '^(%d+) (.+)$')
  local moment = who == holder and type(current) == 'string' and moment_of(current)
  if moment and moment > now / 1e6 and redis.call('PTTL', lock) == -1 then
    return tonumber(ends)
  end
  return nil
end

-- Remember beside a plain lock with timestamp_compat, for a second or a shorter lease, whose it is and until when. As `overwritten` wants it.
local function remember_holder(grant, holder, lease, now)
  redis.call('SET', grant, string.format('%.0f %s', math.floor(now / 1000) + lease, holder), 'PX', math.min(TAKE_OVER_MEMORY, lease))
end

-- The lease was lengthened: while its grant is remembered, so is the new end. Short memory refuses no extension for it.
local function remember_extension(grant, holder, lease, now)
  redis.pcall('SET', grant, string.format('%.0f %s', math.floor(now / 1000) + lease, holder), 'XX', 'KEEPTTL')
end
