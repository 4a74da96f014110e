-- Take this node's vote away from whoever has it, or only from who was `seen`.
-- Returns the type of what stood there: 'string' where somebody had it, 'none' where nobody, 'another' where that was not who was `seen`; anything else is left alone.
local lock = KEYS[1]
local seen = ARGV[1]

--- @include held_by

local kind = redis.call('TYPE', lock).ok
if kind == 'string' then
  if seen and not held_by(seen, redis.call('GET', lock)) then
    return 'another'
  end
  redis.call('DEL', lock)
end
return kind
