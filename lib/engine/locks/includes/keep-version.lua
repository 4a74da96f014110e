-- The token of what is held is remembered a minute longer than the lease.
local function keep_version(version, left)
  redis.call('PEXPIRE', version, left + VERSION_LIFE)
end
