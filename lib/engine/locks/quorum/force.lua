-- Withdraw this node's vote from its holder, or only from the holder that was `seen`.
-- Returns the type at the key: 'string' if a holder had the vote, 'none' if nobody, 'another' if not the one `seen`. Other types are left alone.
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
