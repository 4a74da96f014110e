-- About how many commands one script spends on those who wait: a place that is dead or passed over counts 3, one that is let in 15, and 27 for several permits. Runs that are merged into one script share it.
local BUDGET = { left = EFFORT }
