-- Vote for a holder, unless another has the vote of this node. A later attempt of the same holder replaces an earlier one.
-- Returns {kind, clock, detail}. For 'held', detail is the first token that this node gives: the proposed one if it is free and leads the clock by 100 ms at most. For 'busy' it is the vote, for 'foreign' the foreign type; for 'late' it is 0.
local lock, fence = KEYS[1], KEYS[2]
local holder, attempt, ttl, tokens, proposed, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

--- @include now_us, attempt_of, write_fence, last_token

local now = now_us()
if now > tonumber(not_after) then
  return { 'late', now, 0 }
end
local current = redis.pcall('GET', lock)
if type(current) == 'table' then
  return { 'foreign', now, redis.call('TYPE', lock).ok }
end
local earlier, given = attempt_of(current, holder)
if current and not earlier then
  return { 'busy', now, current }
elseif earlier and earlier > tonumber(attempt) then
  return { 'late', now, 0 }
end
local first = 0
if earlier == tonumber(attempt) then
  first = given
elseif tokens ~= '0' then
  local leads = tonumber(proposed) > now + TOKEN_LEAD -- a proposal far ahead of the clock is not taken: a node that loses its fence could not go on from there
  first = math.max(last_token(redis.call('GET', fence)) + 1, leads and now or tonumber(proposed))
  write_fence(fence, first + tokens - 1, now)
end
redis.call('SET', lock, holder .. '/' .. attempt .. '/' .. int_text(first), 'PX', ttl)
return { 'held', now, first }
