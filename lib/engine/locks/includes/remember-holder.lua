-- Remember beside a plain lock with timestamp_compat, for a second or a shorter lease, whose it is and until when. As overwritten wants it.
local function remember_holder(grant, holder, lease, now)
  redis.call('SET', grant, string.format('%.0f %s', math.floor(now / 1000) + lease, holder), 'PX', math.min(TAKE_OVER_MEMORY, lease))
end
-- The lease was lengthened: while its grant is remembered, so is the new end. Short memory refuses no extension for it.
local function remember_extension(grant, holder, lease, now)
  redis.pcall('SET', grant, string.format('%.0f %s', math.floor(now / 1000) + lease, holder), 'XX', 'KEEPTTL')
end
