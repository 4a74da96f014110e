-- Release a share or permits if they are the holder's. The next waiters come in, or nobody has the share for the rest of a minimum hold.
-- Returns as release.lua of the exclusive lock does.
local lock, queue, seen, fence, holders, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local holder, inbox, kind, count, keep = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

--- @include now_us, members_of, no_replica

local now, marker = now_us(), kind == 's' and SHARED or PERMITS
local ends = redis.pcall('GET', lock) == marker and redis.call('ZSCORE', holders, member_of(holder, count))
if not ends or ends * 1000 <= now then
  no_replica(lock)
  return 0
end
local waiting = redis.call('EXISTS', queue) == 1
local beside = redis.call('ZCARD', holders) > #members_of(holder, count, 0)
if not waiting and not beside and not keep then
  redis.call('DEL', holders, lock)
  return 1
end

--- @include grant_next, remove_holder, process_of, notify_first

local before, grants = waiting and redis.call('PTTL', lock), {}
if keep then
  redis.call('ZREM', holders, '') -- Redis runs this command also when memory is short, and then further writes too
  add_holder('kept/' .. holder, kind, keep, count, marker, now, 0)
end
local current = remove_holder(holder, count, marker, now, beside)
if waiting then
  local left = current and redis.call('PTTL', lock) or 0
  if current and left < before then
    notify_first(left)
  end
  grant_next(now, current, nil, process_of(holder), grants)
end
clear_away()
return #grants == 0 and 1 or grants
