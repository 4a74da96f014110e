-- Who holds a lock: what stands at its name, and the leases beside each other.

-- Whether what stands at a lock's name says that this holder has it alone: its id comes first, and behind it may be its first token.
local function held_by(holder, current)
  return type(current) == 'string' and string.find(current, holder, 1, true) == 1
end

-- Whether what stands at a lock's name says that a native caller holds it, or readers do: an id of ours, behind which a token may be. In a dialect, a mark is behind the id.
local function is_native_holder(current)
  return current == SHARED or string.find(current, '^[%w_-]+%.%d+%.[%w_-]+/[%w_/-]+$') ~= nil
end

-- Which attempt of this holder a node's vote stands for, and the first token that the node gave it, `<holder>/<attempt>/<token>`; nil if it is another's or nobody's.
local function attempt_of(current, holder)
  if type(current) ~= 'string' or string.sub(current, 1, #holder + 1) ~= holder .. '/' then
    return nil
  end
  local attempt, token = string.match(current, '^(%d+)/(%d+)$', #holder + 2)
  return tonumber(attempt), tonumber(token)
end

-- The process of a holder, or of an entry: what its id begins with.
local function process_of(id)
  return string.match(id, '^[^/]+')
end

-- How a lease of several permits stands in `holders`: as a few members, so that no script is longer for many permits.
-- Its first member is "<holder>#<permits>" and scored by the lease's end, like the one member of a lease of one permit. The other permits are a sum of
-- powers of two: each power has a member "<first>#<band>" and is worth 2^(band - 1) permits. Its score is the end too, moved up into the band.
-- 10,000 permits are 9 members. All members of a lease come and go together.
-- The bound below which all first members are: no lease ends so late.
local FIRSTS = '(PERMIT_BAND'
-- The first member of a lease.
local function member_of(holder, count)
  return (tonumber(count) or 1) > 1 and holder .. '#' .. count or holder
end
-- The names of all its members, and all of them as ZADD takes them.
local function members_of(holder, count, ends)
  local first, others, band = member_of(holder, count), (tonumber(count) or 1) - 1, 1
  local names, scored = { first }, { ends, first }
  while others > 0 do
    if others % 2 == 1 then
      local name = first .. '#' .. band
      names[#names + 1], scored[#scored + 1], scored[#scored + 2] = name, band * PERMIT_BAND + ends, name
    end
    others, band = math.floor(others / 2), band + 1
  end
  return names, scored
end

-- Remove whole leases, of which these are the first members.
-- Needs `holders` of the script.
--- @include members_of
local function remove_leases(firsts)
  local all = {}
  for _, first in ipairs(firsts) do
    local holder, count = string.match(first, '^([^#]+)#(%d+)$')
    for _, name in ipairs((members_of(holder or first, count, 0))) do
      all[#all + 1] = name
    end
  end
  redis.call('ZREM', holders, unpack(all))
end

-- See that the marker at the lock's name lasts as long as the longest lease of its holders. Of leases that are over, 100 are removed.
-- A key that a script has emptied is no key of this node any more while its slot moves, so who leaves last leaves marker and members `vacated`: the next holder takes them over, or `clear_away` removes them.
-- Needs `lock` and `holders` of the script. Returns the marker, or false: then nobody holds the lock.
--- @include members_of, remove_leases
local vacated = false
local function refresh_marker(marker, now)
  local ms, last = math.floor(now / 1000), redis.call('ZRANGE', holders, -1, -1, 'WITHSCORES')
  if last[2] and tonumber(last[2]) >= PERMIT_BAND then
    last = redis.call('ZREVRANGEBYSCORE', holders, FIRSTS, '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
  end
  local left = last[2] and last[2] - ms or 0
  vacated = left <= 0
  if vacated then
    return false
  end
  redis.call('SET', lock, marker, 'PX', left)
  redis.call('PEXPIRE', holders, left)
  local over = redis.call('ZRANGEBYSCORE', holders, '-inf', ms, 'LIMIT', 0, EXPIRED_LEASES)
  if over[1] then
    remove_leases(over)
  end
  return marker
end

-- Remove what the last holder left, if nobody has taken it over.
-- Needs `lock` and `holders` of the script.
--- @include refresh_marker
local function clear_away()
  if vacated then
    redis.call('DEL', holders, lock)
    vacated = false
  end
end

-- What stands at the lock's name; false for a marker without a living holder too: it is nobody's. A script left it that stopped half-way, on a node from which its slot was moving.
-- Needs `lock` and `holders` of the script.
--- @include refresh_marker, members_of
local function standing(current, now)
  if (current == SHARED or current == PERMITS) and redis.call('ZCOUNT', holders, '(' .. math.floor(now / 1000), FIRSTS) == 0 then
    vacated = true
    return false
  end
  return current
end

-- Take a holder's permits, or its share, away from it. If nobody is `beside` it in `holders`, they are only over: `refresh_marker` says why.
-- Needs `lock` and `holders` of the script. Returns what stands at the lock's name then, or false.
--- @include members_of, refresh_marker
local function remove_holder(holder, count, marker, now, beside)
  local names, scored = members_of(holder, count, 0)
  if beside then
    redis.call('ZREM', holders, unpack(names))
  else
    redis.call('ZREM', holders, '') -- never refused: lets the next line pass when memory is short
    redis.call('ZADD', holders, 'XX', unpack(scored))
  end
  return refresh_marker(marker, now)
end

-- Lengthen a share, or permits, if they are still their holder's; never bring them back. They are shortened only where their end is as far ahead as `overlong`.
-- Returns the ms left, or -2 where they are over, -3 where somebody holds the lock alone; of what was lengthened, the ms left of the longest beside it, too.
--- @include no_replica, members_of, lengthened
local function extend_share(lock, holders, marker, holder, ttl, overlong, count, now_ms)
  local current = redis.pcall('GET', lock)
  local ends = current == marker and tonumber(redis.call('ZSCORE', holders, member_of(holder, count)) or 0) or 0
  if ends <= now_ms then
    no_replica(lock, current)
    return current and current ~= marker and -3 or -2
  end
  local later = now_ms + lengthened(ends - now_ms, ttl, overlong)
  local longest = math.max(redis.call('PTTL', lock), tonumber(ttl))
  redis.call('PEXPIRE', lock, longest) -- never refused: lets the rest pass when memory is short; in any case: a WAIT behind it answers for what was written
  if later ~= ends then
    ends = later
    redis.call('PEXPIRE', holders, longest)
    local _, scored = members_of(holder, count, ends)
    redis.call('ZADD', holders, 'XX', unpack(scored))
  end
  return ends - now_ms, longest
end

-- Which holder stands at a lock's name, or which together: a text that is the same for as long as they hold it.
local function sight_of(texts)
  table.sort(texts)
  return redis.sha1hex(table.concat(texts, ' '))
end

-- Which holder has a lock of ours, or which together. Of more than 250 it says no more than that they are several.
-- Needs `holders` of the script.
--- @include members_of, sight_of
local function sight_of_lock(current, now)
  local texts = {}
  if current == SHARED or current == PERMITS then
    texts = redis.call('ZRANGEBYSCORE', holders, '(' .. math.floor(now / 1000), FIRSTS, 'LIMIT', 0, FORCED + 1)
  end
  if #texts > FORCED then
    texts = {}
  end
  texts[#texts + 1] = current
  return sight_of(texts)
end

-- Tell the processes of holders of ours that an operator took the lock: an id names its process, whose inbox hears it. Any other text is a holder of another library. Of more than 250, the rest find out when they renew.
local function tell_forced(inbox, holders)
  local told = {}
  for at = 1, math.min(#holders, FORCED) do
    local holder, process = string.match(holders[at], '^(([%w_-]+%.%d+%.[%w_-]+)/[%w_-]+)')
    if process then
      local list = told[process] or { 'forced' }
      told[process], list[#list + 1] = list, holder
    end
  end
  for process, list in pairs(told) do
    redis.pcall('PUBLISH', inbox .. process, table.concat(list, ' '))
  end
end
