-- Write what stands at a name once more as it is: a repeated answer is a write too, so that a WAIT behind it answers for the grant (from Redis 7.2 on it answers for writes of its connection alone).
local function rewrite(lock, left)
  if left > 0 then
    redis.call('PEXPIRE', lock, left)
  end
end
