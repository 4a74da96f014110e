-- Let those in who queue for the lock that was given back: native callers at the same name, and whoever stands among them.
-- Needs the keys and `inbox` of the script.
--- @include "now"
--- @include "grant-next"
local function pass_on_to_natives()
  if redis.call('EXISTS', queue) == 1 then
    grant_next(now_us(), false)
  end
end
