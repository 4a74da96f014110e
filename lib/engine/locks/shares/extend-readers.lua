-- Lengthen the shares of readers that are still their holders', and never restore one; their token stays the version. The ttl follows the holders: once for all, or one for each.
-- Returns 1 if each share lasts its ttl from now on; otherwise for each the ms left, -2 if it is over, -3 if the lock is held exclusively.

--- @include now_us, extend_share

local now_ms, leases, answers, as_asked = math.floor(now_us() / 1000), #KEYS / 3, {}, true
for nth = 1, leases do
  local lock, holders, version = KEYS[3 * nth - 2], KEYS[3 * nth - 1], KEYS[3 * nth]
  local holder, ttl, overlong = ARGV[nth], ARGV[leases + nth] or ARGV[leases + 1], ARGV[2 * leases + nth]
  local left, longest = extend_share(lock, holders, SHARED, holder, ttl, overlong, 1, now_ms)
  if longest then
    redis.call('PEXPIRE', version, longest + VERSION_LIFE)
  end
  answers[nth], as_asked = left, as_asked and left == tonumber(ttl)
end
return as_asked and 1 or answers
