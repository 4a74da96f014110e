-- The entries whose process is gone, among the `entries` from rank `from` on: nobody may ever serve or signal them. Looks at 100 of these, each time at others.
-- The `asker`, a process, shows itself before. Needs `queue` and `seen` of the script.
--- @include "keep-waiting"
--- @include "lives"
--- @include "process-of"
local function dead_among(from, entries, asker, now)
  keep_waiting(asker, now)
  local dead, alive, looks = {}, {}, math.min(entries, DEAD_LOOKS)
  from = from + now % (entries - looks + 1)
  for _, entry in ipairs(redis.call('ZRANGE', queue, from, from + looks - 1)) do
    local process = process_of(entry) or ''
    if alive[process] == nil then
      alive[process] = lives(process, now) or false
    end
    if not alive[process] then
      dead[#dead + 1] = entry
    end
  end
  return dead
end
