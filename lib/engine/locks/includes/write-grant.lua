-- Write beside a timestamp lock what a holder wrote into it, and when, for as long as it holds. Needs ends-of.
local function write_grant(grant, holder, value, unit, now)
  local text = string.format('%s %.0f %s', value, math.floor(now / 1000), holder)
  redis.call('SET', grant, text, 'PX', math.ceil(ends_of(value, unit) - now / 1000))
end
