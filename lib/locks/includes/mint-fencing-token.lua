-- The next fencing token of a lock: above every earlier one while the key lives, above the clock of
-- every earlier grant when it was lost. The key outlives the token's lead over the clock by a day.
local function mint_fencing_token(fence, now)
  local last = redis.call('SET', fence, whole(now), 'PX', 86400000, 'GET')
  if not last or (tonumber(last) or 0) < now then
    return whole(now)
  end
  local token = tonumber(last) + 1
  redis.call('SET', fence, whole(token), 'PX', whole(86400000 + math.ceil((token - now) / 1000)))
  return whole(token)
end
