-- Record the last of the tokens that the quorum agreed on, if this node still votes for the holder's attempt.
-- Returns 1 if it does, else 0.
local lock, fence = KEYS[1], KEYS[2]
local holder, attempt, last, tokens = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

--- @include now_us, attempt_of, write_fence, last_token

if attempt_of(redis.pcall('GET', lock), holder) ~= tonumber(attempt) then
  return 0
end
write_fence(fence, math.max(last_token(redis.call('GET', fence)), tonumber(last)), now_us())
redis.call('SET', lock, holder .. '/' .. attempt .. '/' .. int_text(last - tokens + 1), 'KEEPTTL')
return 1
