-- How much one script does for those who wait: a place that is dead or passed over counts 1, one that is let in 7 and its permits. Runs that are merged into one script share it.
local EFFORT = { left = 1000 }
