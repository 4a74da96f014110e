-- Remember the last of the tokens that the quorum agreed on, where this node still votes for the holder's attempt.
-- Returns 1 if it does, else 0.
local lock, fence = KEYS[1], KEYS[2]
local holder, attempt, last, tokens = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

--- @include "now"
--- @include "attempt-of"
--- @include "block-of"

if attempt_of(redis.pcall('GET', lock), holder) ~= tonumber(attempt) then
  return 0
end
last = tonumber(last)
local stored = redis.call('GET', fence)
local greater = math.max(tonumber(stored or '') or 0, last)
local text = greater == last and block_of(last, tonumber(tokens)) or stored
redis.call('SET', fence, text, 'PX', FENCE_LIFE + math.max(0, math.ceil((greater - now_us()) / 1000)))
return 1
