-- Inspect the lock, without a write.
-- Returns {type, 1 if it is a lock, ms left, last token, now, mode, {holder, ms left, ...}, its token, and its sight: `force` takes the lock only while its sight is the same}.
local lock, fence, version = KEYS[1], KEYS[2], KEYS[3]
local most, holds = ARGV[1], ARGV[2]

--- @include now_us, is_redisson_lock, sight_of

local found, now, left = redis.call('TYPE', lock).ok, now_us(), redis.call('PTTL', lock)
local mode, holders, sight = 'write', {}, ''
local is_lock = found == 'hash' and is_redisson_lock(lock)
if is_lock then
  mode = redis.call('HGET', lock, 'mode') or mode
  local fields = redis.call('HKEYS', lock)
  sight = sight_of(fields)
  for _, field in ipairs(fields) do
    if field ~= 'mode' and #holders < 2 * tonumber(most) then
      local reads = mode == 'read' and holds ~= ''
      holders[#holders + 1] = string.match(field, '^(.+):write$') or field
      holders[#holders + 1] = reads and redis.call('PTTL', holds .. field .. ':rwlock_timeout:1') or left
    end
  end
end
return { found, is_lock and 1 or 0, left, redis.call('GET', fence) or '', now, mode, holders, redis.call('GET', version) or '', sight }
