-- The batch of entries directly behind the one that was just let in from rank `at`, all of its process, ttl and kind:
-- the process lets them in itself, one after another, and says so when it gives the lock back.
-- Needs `queue` of the script. Returns how many they are, and the arrival of the last of them; '-' if there are none.
local function batch_behind(process, entry, at, nearest)
  local ending = nearest and string.match(entry, '/%d+/x[01]$')
  if not ending then
    return 0, '-'
  end
  local beginning = process .. '/'
  local function follows(other)
    return other and string.sub(other, 1, #beginning) == beginning and string.sub(other, -#ending) == ending
  end
  if not follows(nearest) then
    return 0, '-'
  end
  local behind = redis.call('ZRANGE', queue, at, at + LONGEST_BATCH - 1)
  local count = 1
  while follows(behind[count + 1]) do
    count = count + 1
  end
  return count, redis.call('ZSCORE', queue, behind[count])
end
