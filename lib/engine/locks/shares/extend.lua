-- Lengthen shares and permits that are still their holders', and never restore one; the token of readers stays the version. All counts follow the holders, empty for a reader, then the ttl: once for all, or one for each.
-- Returns 1 if all last their ttl from now on; otherwise for each lease the ms left, -2 if it is over, -3 if the lock is held exclusively.

--- @include now_us, extend_share, keep_version

local now_ms, leases, answers, as_asked = math.floor(now_us() / 1000), #KEYS / 3, {}, true
for nth = 1, leases do
  local lock, holders, version = KEYS[3 * nth - 2], KEYS[3 * nth - 1], KEYS[3 * nth]
  local holder, count = ARGV[nth], ARGV[leases + nth]
  local ttl, overlong = ARGV[2 * leases + nth] or ARGV[2 * leases + 1], ARGV[3 * leases + nth]
  local marker = count == '' and SHARED or PERMITS
  local left, longest = extend_share(lock, holders, marker, holder, ttl, overlong, count, now_ms)
  if longest and marker == SHARED then
    keep_version(version, longest)
  end
  answers[nth], as_asked = left, as_asked and left == tonumber(ttl)
end
return as_asked and 1 or answers
