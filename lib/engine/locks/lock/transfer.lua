-- Replace the lock's holder by its successor, without a gap and with the same token. The lease lasts `ttl` from now, or longer if it did.
-- Returns the ms left; -2 if the lock is free, -3 if it is another holder's; {-5, clock} if the step came too late and changed nothing.
local lock = KEYS[1]
local holder, successor, ttl, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

--- @include now_us, held_by, no_replica, rewrite

local now = now_us()
if now > tonumber(not_after) then
  return { -5, now }
end
local current = redis.pcall('GET', lock)
if held_by(holder, current) then
  local left = math.max(redis.call('PTTL', lock), tonumber(ttl), 1)
  redis.call('SET', lock, successor .. string.sub(current, #holder + 1), 'PX', left)
  return left
elseif held_by(successor, current) then
  local left = redis.call('PTTL', lock)
  rewrite(lock, left)
  return left
end
no_replica(lock)
return current and -3 or -2
