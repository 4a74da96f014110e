-- Write what stands at a name once more as it is: a repeated answer is a write too, so that a WAIT behind it answers for the grant.
local function rewrite(lock, left)
  if left > 0 then
    redis.call('PEXPIRE', lock, left)
  end
end
