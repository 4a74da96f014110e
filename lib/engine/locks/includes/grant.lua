-- How a holder comes in, and how those who wait do.

-- Whether `count` permits more are free, if there are `permits` in all. Those of leases that are over are.
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

-- Whether one more may hold the lock beside what stands at its name now. Leases that are over do not count.
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

-- Make somebody the holder who has the lock alone: its id stands there, and its first token behind a slash. Who has tokens may write, so that the version goes.
-- Needs `lock`, `fence` and `version` of the script. Returns what stands there then, the first token and how many; -1 and 0 where none is wanted.
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

-- Make somebody a holder, alone or beside those who are.
-- Needs `lock`, `seen`, `fence`, `holders` and `version` of the script. Returns what stands at the lock's name then, the first token and how many; -1 and 0 where none is wanted.
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
  local marker = refresh_marker(kind == 's' and SHARED or PERMITS, now) -- in any case: from now on nothing is `vacated`
  if tokens == 0 then
    return marker, -1, 0
  end
  return marker, kind == 's' and plant_version(now) or permit_token(holder, now), 1
end

-- The batch of entries directly behind the one that was just let in from rank `at`, all of its process, ttl and kind:
-- the process lets them in itself, one after another, and says so when it gives the lock back.
-- Needs `queue` of the script. Returns how many they are, and the arrival of the last of them; '-' if there are none.
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

-- Let waiting entries in, in their order, as long as the next of them fits to what stands at the lock's name, and push each grant to its process.
-- An entry is "<process>/<id>/<ttl>/<kind><tokens>", for permits "…/<permits>/<count>", for who was signalled "…/<condition>" too; what stands before the ttl is its holder id.
-- An entry whose process nobody hears is passed over and kept: its own polls take the lock. That is asked before the grant, since a grant that is taken back may have been heard: replicas get what is published.
-- In a Cluster, where the inbox says so, a process may listen at another node.
-- What concerns the process `home`, which reads the script's reply, is no push but stands in `heard`.
-- It ends when it has let 80 entries in, or gone through 400 that are dead or passed over, and one at least: no script is long. Then it tells the process of the next entry to ask, or if that is dead the asker's, which goes on there.
-- A grant carries how many entries the batch behind it has, where it ends, and a token for each in it.
-- Needs the keys and `inbox` of the script. Returns {first token, how many} if the asker's entry was let in, which needs no push; else false.
--- @include fits, add_holder, clear_away, is_alive, batch_behind, int_text
-- About how many commands one script spends on those who wait: an entry that is dead or passed over counts 3, one that is let in 15, and 27 for several permits. Runs that leave in one script share it.
local BUDGET = { left = EFFORT }
-- By process: whether its inbox is subscribed to on this server.
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
      return asked -- from here on all await conditions
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
        if pass_signal_on(holder, permits, now, arrival) then -- it does not die with who got it
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
      return asked -- the queue may be empty now: `refresh_marker` says why nobody looks
    end
  end
end
-- The same, and what the last holder left goes if nobody came in.
local function grant_next(now, current, asker, home, heard)
  local asked = let_in(now, current, asker, home, heard)
  clear_away()
  return asked
end

-- Let those in who queue for the lock that was given back: native callers at the same name, and whoever stands among them.
-- Needs the keys and `inbox` of the script.
--- @include now_us, grant_next
local function pass_on_to_natives()
  if redis.call('EXISTS', queue) == 1 then
    grant_next(now_us(), false)
  end
end
