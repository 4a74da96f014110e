-- Grants: to a caller that asks, and to entries of the queue.

-- Whether `count` further permits are free, of `permits` in all. Permits of expired leases are free.
-- Needs `holders` of the script.
--- @include members_of, int_text
local function has_room(permits, count, now)
  local ms = math.floor(now / 1000)
  local left = permits - count - redis.call('ZCOUNT', holders, '(' .. ms, FIRSTS)
  local last = left >= 0 and redis.call('ZRANGE', holders, -1, -1, 'WITHSCORES')[2]
  for band = 1, last and math.floor(last / PERMIT_BAND) or 0 do
    left = left - 2 ^ (band - 1) * redis.call('ZCOUNT', holders, '(' .. int_text(band * PERMIT_BAND + ms), '(' .. int_text((band + 1) * PERMIT_BAND))
  end
  return left >= 0
end

-- Whether one more holder fits beside `current`, the value at the lock's name. Expired leases do not count.
-- Needs `lock` and `holders` of the script.
--- @include standing, has_room
local function fits(current, kind, permits, count, now)
  if not current then
    return true
  elseif kind == 's' and current == SHARED then
    return true
  elseif kind == 'p' and current == PERMITS then
    return has_room(permits, count, now)
  end
  return not standing(current, now)
end

-- Make `holder` the exclusive holder: the lock's value is its id and, behind a slash, its first token. A holder with tokens may write, so the version is deleted.
-- Needs `lock`, `fence` and `version` of the script. Returns the new value, the first token and their number; -1 and 0 without tokens.
--- @include mint_fencing_tokens
local function hold_alone(holder, lease, tokens, now)
  local current, token, count = holder, -1, 0
  if tokens > 0 then
    token, count = mint_fencing_tokens(fence, now, tokens)
    current = holder .. '/' .. token_text(token)
    redis.call('DEL', version)
  end
  redis.call('SET', lock, current, 'PX', lease)
  return current, token, count
end

-- Make `holder` a holder, exclusive or beside the present ones.
-- Needs `lock`, `seen`, `fence`, `holders` and `version` of the script. Returns the new value of the lock, the first token and their number; -1 and 0 without tokens.
--- @include members_of, refresh_marker, hold_alone, permit_token, plant_version
local function add_holder(holder, kind, lease, count, current, now, tokens)
  if kind == 'x' or kind == 'c' then
    local stands, token, minted = hold_alone(holder, lease, tokens, now)
    if vacated then
      redis.call('DEL', holders)
      vacated = false
    end
    return stands, token, minted
  end
  if not current and not vacated and redis.call('EXISTS', holders) == 1 then
    redis.call('DEL', holders)
  end
  local ends = math.floor(now / 1000) + lease
  local _, scored = members_of(holder, count, ends)
  redis.call('ZADD', holders, unpack(scored))
  local marker = refresh_marker(kind == 's' and SHARED or PERMITS, now) -- this call also resets `vacated`
  if tokens == 0 then
    return marker, -1, 0
  end
  return marker, kind == 's' and plant_version(now) or permit_token(holder, now), 1
end

-- The batch directly behind the entry that was granted from rank `at`: entries of the same process, ttl and kind. The process serves them itself, one after another, and reports them with its release.
-- Needs `queue` of the script. Returns the size of the batch and the arrival of its last entry; 0 and '-' if there is none.
local function batch_behind(process, entry, at, nearest)
  local ending = nearest and string.match(entry, '/%d+/x[01]$')
  if not ending then
    return 0, '-'
  end
  local beginning = process .. '/'
  local function follows(other)
    return other and string.sub(other, 1, #beginning) == beginning and string.sub(other, -#ending) == ending
  end
  if not follows(nearest) then
    return 0, '-'
  end
  local behind = redis.call('ZRANGE', queue, at, at + LONGEST_BATCH - 1)
  local count = 1
  while follows(behind[count + 1]) do
    count = count + 1
  end
  return count, redis.call('ZSCORE', queue, behind[count])
end

-- Grant entries of the queue in their order, as long as the next one fits to the lock's value, and push each grant to its process.
-- An entry is "<process>/<id>/<ttl>/<kind><tokens>". A permit's ends in "/<permits>/<count>", a signalled one's in "/<condition>". The part before the ttl is its holder id.
-- An entry whose inbox nobody hears is passed over and kept: its process takes the lock by polling. The check precedes the grant, since a grant that is withdrawn may have been heard: replicas get what is published.
-- In a Cluster, which the inbox name shows, a process may listen at another node.
-- A grant to the process `home`, which reads the script's reply, is not pushed but added to `heard`.
-- The loop stops after about 80 grants, or 400 entries that are dead or passed over, but handles one at least: no script may be long. The process of the next entry is then told to ask, or the asker's if that one is dead.
-- A grant carries the size of the batch behind it, where the batch ends, and a token for each of its entries.
-- Needs the keys and `inbox` of the script. Returns {first token, number of tokens} if the asker's entry was granted, without a push; else false.
--- @include fits, add_holder, clear_away, is_alive, batch_behind, int_text
-- The commands that one script spends on waiters, roughly: 3 for an entry that is dead or passed over, 15 for a grant, 27 for one of several permits. Runs merged into one script share the budget.
local BUDGET = { left = EFFORT }
-- Whether a process's inbox is subscribed to on this server, by process.
local LISTENS = {}
local function listens(process)
  if LISTENS[process] == nil then
    local count = string.sub(inbox, -9) == ':cluster:' or redis.pcall('PUBSUB', 'NUMSUB', inbox .. process)[2]
    LISTENS[process] = (count or 0) ~= 0
  end
  return LISTENS[process]
end
local function let_in(now, current, asker, home, heard)
  local at, asked, begun, moved = 0, false, false, false
  while true do
    if current and current ~= SHARED and current ~= PERMITS then
      return asked
    end
    local head = redis.call('ZRANGE', queue, at, at + 1, 'WITHSCORES')
    local entry, arrival = head[1], head[2]
    if not entry then
      return asked
    end
    local holder, process, ttl, kind, tokens, permits, count = string.match(entry, '^(([^/]+)/[^/]+)/(%d+)/([xspcw])(%d+)/?([^/]*)/?(%d*)$')
    if kind == 'w' then
      return asked -- all further entries await conditions
    end
    if begun and BUDGET.left <= 0 then
      if asker and not is_alive(process, now) then
        process = string.match(asker, '^[^/]+')
      end
      if moved then
        redis.pcall('PUBLISH', inbox .. process, 'kept 0 ' .. lock)
      end
      return asked
    end
    begun, BUDGET.left = true, BUDGET.left - LOOK_EFFORT
    if entry ~= asker and not is_alive(process, now) then
      moved = true
      redis.call('ZREM', queue, entry)
      if kind == 'c' and head[3] then
--- @include pass_signal_on
        if pass_signal_on(holder, permits, now, arrival) then -- the signal outlives its dead entry
          BUDGET.left = BUDGET.left - PASSED_SIGNAL_EFFORT
        end
      end
    elseif not fits(current, kind, permits, count, now) then
      return asked
    elseif entry == asker then
      redis.call('ZREM', queue, entry)
      asked = {}
      current, asked[1], asked[2] = add_holder(holder, kind, ttl, count, current, now, tonumber(tokens))
    elseif process ~= home and not listens(process) then
      at = at + 1
    else
      BUDGET.left = BUDGET.left - GRANT_EFFORT - ((tonumber(count) or 1) > 1 and SEVERAL_EFFORT or 0)
      local lease = math.min(tonumber(ttl), FIRST_LEASE)
      redis.call('ZREM', queue, entry)
      local token, minted
      local behind, last = batch_behind(process, entry, at, head[3])
      current, token, minted = add_holder(holder, kind, lease, count, current, now, tokens == '0' and 0 or tokens + behind)
      local grant = 'granted ' .. entry .. ' ' .. lease .. ' ' .. int_text(now) .. ' ' .. (minted > 0 and int_text(token) or '') .. ' ' .. minted .. ' ' .. behind .. ' ' .. last .. ' ' .. lock
      if process == home then
        heard[#heard + 1] = grant
      else
        redis.pcall('PUBLISH', inbox .. process, grant)
      end
      moved = true
    end
    if not head[3] then
      return asked -- no lookup: the queue may be empty (see `refresh_marker`)
    end
  end
end
-- As `let_in`; then the remains of the last holder are removed if nobody was granted the lock.
local function grant_next(now, current, asker, home, heard)
  local asked = let_in(now, current, asker, home, heard)
  clear_away()
  return asked
end

-- Grant a lock that was given back to callers queued at the same name: native ones, and dialect callers among them.
-- Needs the keys and `inbox` of the script.
--- @include now_us, grant_next
local function pass_on_to_natives()
  if redis.call('EXISTS', queue) == 1 then
    grant_next(now_us(), false)
  end
end
