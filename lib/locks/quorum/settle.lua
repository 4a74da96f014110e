-- Remember the last of the tokens that the quorum agreed on, where this node still votes for the holder's attempt.
-- Returns 1 if it does, else 0.
local lock, fence = KEYS[1], KEYS[2]
local holder, attempt, last = ARGV[1], ARGV[2], ARGV[3]

--- @include "now"
--- @include "attempt-of"

if attempt_of(redis.pcall('GET', lock), holder) ~= tonumber(attempt) then
  return 0
end
local stored = tonumber(redis.call('GET', fence) or '') or 0
local greater = math.max(stored, tonumber(last))
redis.call('SET', fence, greater, 'PX', 86400000 + math.max(0, math.ceil((greater - now_us()) / 1000)))
return 1
