-- Who awaits a condition stands in the queue behind this score, so that no grant comes to him.
local AWAITING = 4000000000000000
