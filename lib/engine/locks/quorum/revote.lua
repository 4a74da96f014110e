-- Vote again for the holder of a majority, if this node has forgotten its vote and given it to nobody else.
-- Returns 1 if the node votes for the holder now, else 0.
local lock = KEYS[1]
local holder, ttl, not_after = ARGV[1], ARGV[2], ARGV[3]

--- @include now_us

if now_us() > tonumber(not_after) then
  return 0
end
return redis.call('SET', lock, holder .. '/0/0', 'NX', 'PX', ttl) and 1 or 0
