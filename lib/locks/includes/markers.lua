-- What stands at a lock's name while no single holder does: several readers, holders of permits, or nobody, in a minimum hold. As MARKERS in holder.ts. No foreign lock looks like it; to a client of the SETNX articles it begins with a time to come.
local SHARED, PERMITS, KEPT = '99999999999999-nest-redis-lock:shared', '99999999999999-nest-redis-lock:permits', '99999999999999-kept'
