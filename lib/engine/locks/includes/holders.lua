-- Holders of a lock: the value at its name, and the leases that share it.

-- Whether the lock's value names this exclusive holder: the id comes first, perhaps followed by the first token.
local function held_by(holder, current)
  return type(current) == 'string' and string.find(current, holder, 1, true) == 1
end

-- Whether the lock's value names a native holder or native readers: an id of ours, perhaps followed by a token. A dialect's id ends in a mark.
local function is_native_holder(current)
  return current == SHARED or string.find(current, '^[%w_-]+%.%d+%.[%w_-]+/[%w_/-]+$') ~= nil
end

-- The attempt of this holder that a node voted for, and the first token that the node gave: the vote is `<holder>/<attempt>/<token>`. Nil if the vote is another's or nobody's.
local function attempt_of(current, holder)
  if type(current) ~= 'string' or string.sub(current, 1, #holder + 1) ~= holder .. '/' then
    return nil
  end
  local attempt, token = string.match(current, '^(%d+)/(%d+)$', #holder + 2)
  return tonumber(attempt), tonumber(token)
end

-- The process of a holder or an entry: the first part of its id.
local function process_of(id)
  return string.match(id, '^[^/]+')
end

-- A lease of several permits has a few members in `holders`, so that no script is longer for many permits. The first member is "<holder>#<permits>", scored by the lease's end, like the only member of a lease of one permit.
-- The other permits are a sum of powers of two. Each power has a member "<first>#<band>", worth 2^(band - 1) permits; its score is the end too, shifted into the band.
-- 10,000 permits are 9 members. All members of a lease come and go together.
-- FIRSTS is the bound below which all first members score: no lease ends so late.
local FIRSTS = '(PERMIT_BAND'
-- The first member of a lease.
local function member_of(holder, count)
  return (tonumber(count) or 1) > 1 and holder .. '#' .. count or holder
end
-- The names of all members of a lease, and the arguments that ZADD takes for them.
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

-- Remove whole leases by their first members.
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

-- The ms left of the longest lease; 0 or less if nobody has one.
--- @include members_of
local function longest_lease(holders, ms)
  local last = redis.call('ZRANGE', holders, -1, -1, 'WITHSCORES')
  if last[2] and tonumber(last[2]) >= PERMIT_BAND then
    last = redis.call('ZREVRANGEBYSCORE', holders, FIRSTS, '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
  end
  return last[2] and last[2] - ms or 0
end

-- Make the marker at the lock's name last as long as the longest lease of its holders, and remove up to 100 expired leases.
-- A script must not look up a key that it has emptied: while the slot moves, this node no longer owns the key. So the last holder leaves marker and members, `vacated`: the next holder takes them over, or `clear_away` removes them.
-- Needs `lock` and `holders` of the script. Returns the marker, or false if nobody holds the lock.
--- @include longest_lease, members_of, remove_leases
local vacated = false
local function refresh_marker(marker, now)
  local ms = math.floor(now / 1000)
  local left = longest_lease(holders, ms)
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

-- Remove the remains of the last holder, if no other holder has taken them over.
-- Needs `lock` and `holders` of the script.
--- @include refresh_marker
local function clear_away()
  if vacated then
    redis.call('DEL', holders, lock)
    vacated = false
  end
end

-- The lock's value; false for a marker without a living holder. Such a marker is left by a script that stopped half-way, on a node from which its slot was moving.
-- Needs `lock` and `holders` of the script.
--- @include refresh_marker, members_of
local function standing(current, now)
  if (current == SHARED or current == PERMITS) and redis.call('ZCOUNT', holders, '(' .. math.floor(now / 1000), FIRSTS) == 0 then
    vacated = true
    return false
  end
  return current
end

-- Remove a holder's permits or share. If nobody is `beside` it in `holders`, its members expire instead (see `refresh_marker`).
-- Needs `lock` and `holders` of the script. Returns the lock's new value, or false.
--- @include members_of, refresh_marker
local function remove_holder(holder, count, marker, now, beside)
  local names, scored = members_of(holder, count, 0)
  if beside then
    redis.call('ZREM', holders, unpack(names))
  else
    redis.call('ZREM', holders, '') -- Redis runs this command also when memory is short, and then the next write too
    redis.call('ZADD', holders, 'XX', unpack(scored))
  end
  return refresh_marker(marker, now)
end

-- Lengthen a share or permits that are still their holder's; never restore them. A lease is shortened only if its end is as far ahead as `overlong`.
-- Returns the ms left, or -2 if the lease is over, -3 if another holder has the lock exclusively. For a lengthened lease, also returns the ms left of the longest lease beside it.
--- @include no_replica, members_of, lengthened, longest_lease
local function extend_share(lock, holders, marker, holder, ttl, overlong, count, now_ms)
  local current = redis.pcall('GET', lock)
  local ends = current == marker and tonumber(redis.call('ZSCORE', holders, member_of(holder, count)) or 0) or 0
  if ends <= now_ms then
    no_replica(lock)
    return current and current ~= marker and -3 or -2
  end
  local later = now_ms + lengthened(ends - now_ms, ttl, overlong)
  local stands = redis.call('PTTL', lock)
  if stands < 0 then
    stands = longest_lease(holders, now_ms) -- an operator made the marker last for ever
  end
  local longest = math.max(stands, tonumber(ttl))
  redis.call('PEXPIRE', lock, longest) -- Redis runs this command also when memory is short, and then the rest too; it is always written, because a WAIT covers only writes before it
  if later ~= ends then
    ends = later
    redis.call('PEXPIRE', holders, longest)
    local _, scored = members_of(holder, count, ends)
    redis.call('ZADD', holders, 'XX', unpack(scored))
  end
  return ends - now_ms, longest
end

-- A digest of the present holders: the text stays the same as long as they hold the lock.
local function sight_of(texts)
  table.sort(texts)
  return redis.sha1hex(table.concat(texts, ' '))
end

-- The digest of the present holders of a lock of ours. For more than 250 holders it covers the marker alone.
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

-- Tell the processes of our holders that an operator took the lock: an id names the process, whose inbox gets the message. Other texts are holders of other libraries. Beyond 250 holders, the rest learn of it when they renew.
local function tell_forced(inbox, holders)
  local told, lists = {}, {}
  for at = 1, math.min(#holders, FORCED) do
    local holder, process = string.match(holders[at], '^(([%w_-]+%.%d+%.[%w_-]+)/[%w_-]+)')
    if process then
      local list = lists[process] or { 'forced' }
      if #list == 1 then
        told[#told + 1], lists[process] = process, list
      end
      list[#list + 1] = holder
    end
  end
  for _, process in ipairs(told) do
    redis.pcall('PUBLISH', inbox .. process, table.concat(lists[process], ' '))
  end
end
