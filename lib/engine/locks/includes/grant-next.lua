-- Let waiting entries in, in their order, as long as the next of them fits to what stands at the lock's name, and push each grant to its process.
-- An entry is "<process>/<id>/<ttl>/<kind><tokens>", for permits "…/<permits>/<count>", for who was signalled "…/<condition>" too; what stands before the ttl is its holder id.
-- An entry whose process nobody hears is passed over and kept: its own polls take the lock. That is asked before the grant, since a grant that is taken back may have been heard: replicas get what is published.
-- In a Cluster, where the inbox says so, a process may listen at another node.
-- What concerns the process `home`, which reads the script's reply, is no push but stands in `heard`.
-- It ends when it has let 80 entries in, or gone through 400 that are dead or passed over, and one at least: no script is long. Then it tells the process of the next entry to ask, or if that is dead the asker's, which goes on there.
-- A grant carries how many entries the batch behind it has, where it ends, and a token for each in it.
-- Needs the keys and `inbox` of the script. Returns {first token, how many} if the asker's entry was let in, which needs no push; else false.
--- @include "fits"
--- @include "hold"
--- @include "clear-away"
--- @include "lives"
--- @include "batch-behind"
--- @include "whole"
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
      if asker and not lives(process, now) then
        process = string.match(asker, '^[^/]+')
      end
      if moved then
        redis.pcall('PUBLISH', inbox .. process, 'kept 0 ' .. lock)
      end
      return asked
    end
    begun, BUDGET.left = true, BUDGET.left - LOOK_EFFORT
    if entry ~= asker and not lives(process, now) then
      moved = true
      redis.call('ZREM', queue, entry)
      if kind == 'c' and head[3] then
--- @include "pass-signal-on"
        if pass_signal_on(holder, permits, now, arrival) then -- it does not die with who got it
          BUDGET.left = BUDGET.left - PASSED_SIGNAL_EFFORT
        end
      end
    elseif not fits(current, kind, permits, count, now) then
      return asked
    elseif entry == asker then
      redis.call('ZREM', queue, entry)
      asked = {}
      current, asked[1], asked[2] = hold(holder, kind, ttl, count, current, now, tonumber(tokens))
    elseif process ~= home and not listens(process) then
      at = at + 1
    else
      BUDGET.left = BUDGET.left - GRANT_EFFORT - ((tonumber(count) or 1) > 1 and SEVERAL_EFFORT or 0)
      local lease = math.min(tonumber(ttl), FIRST_LEASE)
      redis.call('ZREM', queue, entry)
      local token, minted
      local behind, last = batch_behind(process, entry, at, head[3])
      current, token, minted = hold(holder, kind, lease, count, current, now, tokens == '0' and 0 or tokens + behind)
      local grant = 'granted ' .. entry .. ' ' .. lease .. ' ' .. whole(now) .. ' ' .. (minted > 0 and whole(token) or '') .. ' ' .. minted .. ' ' .. behind .. ' ' .. last .. ' ' .. lock
      if process == home then
        heard[#heard + 1] = grant
      else
        redis.pcall('PUBLISH', inbox .. process, grant)
      end
      moved = true
    end
    if not head[3] then
      return asked -- the queue may be empty now: settle-holders.lua says why nobody looks
    end
  end
end

-- The same, and what the last holder left goes if nobody came in.
local function grant_next(now, current, asker, home, heard)
  local asked = let_in(now, current, asker, home, heard)
  clear_away()
  return asked
end
