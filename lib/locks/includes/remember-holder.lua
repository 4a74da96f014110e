-- Remember beside a guarded plain lock, for a second or a shorter lease, whose it is and until when. As overwritten wants it.
local function remember_holder(grant, holder, lease, now)
  redis.call('SET', grant, string.format('%.0f %s', math.floor(now / 1000) + lease, holder), 'PX', math.min(1000, lease))
end
