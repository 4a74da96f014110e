-- Whether a lock in which a holder wrote `own` is his: his time has not come, and nobody wrote one that is earlier
-- by more than that second. Another may be of somebody who lost a take-over to him. Needs ends-of.
local function still_his(current, own, unit, now)
  local his, stands = ends_of(own, unit), ends_of(current, unit)
  return his and stands and his > now / 1000 and stands >= his - 1000
end
