-- Take this node's vote away from whoever has it.
-- Returns the type of what stood there: 'string' where somebody had it, 'none' where nobody; anything else is left alone.
local lock = KEYS[1]

local kind = redis.call('TYPE', lock).ok
if kind == 'string' then
  redis.call('DEL', lock)
end
return kind
