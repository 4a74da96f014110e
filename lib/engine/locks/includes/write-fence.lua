-- Write the last token down, for a day and as long as it leads the clock.
--- @include "whole"
local function write_fence(fence, last, now)
  redis.call('SET', fence, whole(last), 'PX', FENCE_LIFE + math.max(0, math.ceil((last - now) / 1000)))
end
