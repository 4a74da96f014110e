-- Lengthen permits that are still their holders', and never restore them. The holders are followed by all counts, then by the ttl: once for all, or one for each.
-- Returns 1 if all last their ttl from now on; otherwise for each lease the ms left, -2 if it is over, -3 if the lock is held exclusively.

--- @include now_us, extend_share

local now_ms, leases, answers, as_asked = math.floor(now_us() / 1000), #KEYS / 2, {}, true
for nth = 1, leases do
  local lock, holders = KEYS[2 * nth - 1], KEYS[2 * nth]
  local holder, count = ARGV[nth], ARGV[leases + nth]
  local ttl, overlong = ARGV[2 * leases + nth] or ARGV[2 * leases + 1], ARGV[3 * leases + nth]
  answers[nth] = extend_share(lock, holders, PERMITS, holder, ttl, overlong, count, now_ms)
  as_asked = as_asked and answers[nth] == tonumber(ttl)
end
return as_asked and 1 or answers
