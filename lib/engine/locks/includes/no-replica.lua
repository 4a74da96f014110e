-- Fail on a replica (READONLY), by a write that changes nothing: what a replica does not know is no loss.
local function no_replica(lock, current)
  if current then
    redis.call('RENAMENX', lock, lock)
  else
    redis.call('DEL', lock)
  end
end
