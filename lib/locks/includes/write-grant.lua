-- Write beside a timestamp lock what a holder wrote into it, and whether that was a take-over, for as long as it holds. Needs ends-of.
local function write_grant(grant, holder, value, took, unit, now)
  local text = string.format('%s %.0f %s %s', value, math.floor(now / 1000), took, holder)
  redis.call('SET', grant, text, 'PX', math.ceil(ends_of(value, unit) - now / 1000))
end
