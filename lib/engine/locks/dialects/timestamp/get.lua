-- The second step of the articles: GET, to see whether the time is past and Redis does not expire it.
-- Returns {kind, ms left or the foreign type, now, token, value}: 'past' with the value that was seen, 'busy', or 'foreign'.
local lock = KEYS[1]
local unit = ARGV[1]

--- @include now_us, ends_of, past_from

local current, now = redis.pcall('GET', lock), now_us()
if type(current) == 'table' then
  return { 'foreign', redis.call('TYPE', lock).ok, now, -1 }
elseif not current then
  return { 'busy', 0, now, -1 }
end
local past, left = ends_of(current, unit) and past_from(current), redis.call('PTTL', lock)
if past and past < now / 1000 and left == -1 then
  return { 'past', 0, now, -1, current }
end
return { 'busy', past and past >= now / 1000 and math.ceil(past - now / 1000) or left, now, -1 }
