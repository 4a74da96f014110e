-- Release locks without waiters.
-- Returns 1 for 'each was the holder's'. Otherwise for each lock 1; 0 if it was not the holder's; -1, without a change, if it has waiters.
local process = ARGV[1]

--- @include no_replica

local locks = #KEYS / 2
local waiting = redis.call('EXISTS', unpack(KEYS, locks + 1)) > 0
local holders, before, own, answers = redis.call('MGET', unpack(KEYS, 1, locks)), process .. '/', {}, {}
for i = 1, locks do
  local lock, queue = KEYS[i], KEYS[locks + i]
  local id = ARGV[1 + i]
  if waiting and redis.call('EXISTS', queue) == 1 then
    answers[i] = -1
  elseif holders[i] and string.find(holders[i], before .. id, 1, true) == 1 then
    own[#own + 1], answers[i] = lock, 1
  else
    no_replica(lock)
    answers[i] = 0
  end
end
if #own > 0 then
  redis.call('DEL', unpack(own))
end
return #own == locks and 1 or answers
