-- A whole number as Redis writes it; `..` would make 1.79e+15 of a token.
local function whole(number)
  return string.format('%.0f', number)
end

-- Make the first living place the holder and push the grant to its process.
-- A place is "<process>/<id>/<ttl>/x<tokens>"; what stands before the ttl is its holder id.
-- A push that nobody receives passes the place over and keeps it: its own polls take the lock.
-- Returns the place that was granted, or nil: then the lock is free.
local function grant_next(lock, queue, seen, fence, inbox, now, asker)
  local unreachable, at = {}, 0
  for _ = 1, 1000 do
    local head = redis.call('ZRANGE', queue, at, at, 'WITHSCORES')
    local place, arrival = head[1], head[2]
    if not place then
      return nil
    end
    local holder, process, ttl, tokens = string.match(place, '^(([^/]+)/[^/]+)/(%d+)/x(%d+)$')
    local last_seen = process and redis.call('ZSCORE', seen, process)
    if place == asker then
      redis.call('ZREM', queue, place)
      redis.call('SET', lock, holder, 'PX', ttl)
      return place
    elseif not last_seen or now / 1000 - last_seen > 3000 then
      redis.call('ZREM', queue, place)
    elseif unreachable[process] then
      at = at + 1
    else
      local lease = math.min(tonumber(ttl), 3000)
      redis.call('ZREM', queue, place)
      redis.call('SET', lock, holder, 'PX', lease)
      local token, count = nil, 0
      if tokens ~= '0' then
        token, count = mint_fencing_tokens(fence, now, tonumber(tokens))
      end
      local told = redis.pcall('PUBLISH', inbox .. process,
        'granted ' .. holder .. ' ' .. lease .. ' ' .. whole(now) .. ' ' .. (token and whole(token) or '') .. ' ' .. count .. ' ' .. lock)
      if type(told) == 'number' and told > 0 then
        return place
      end
      unreachable[process] = true
      redis.call('ZADD', queue, arrival, place)
      redis.call('PEXPIRE', queue, 60000)
      redis.call('DEL', lock)
      at = at + 1
    end
  end
  return nil
end
