-- Wake the next who awaits a condition and lives, because who was signalled cannot.
-- Needs `queue` and `seen` of the script.
--- @include "signal-next"
local function pass_signal_on(condition, now)
  repeat
    local _, more = signal_next(condition, now, 1)
  until not more
end
