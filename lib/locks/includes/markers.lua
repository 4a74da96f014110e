-- What stands at a lock's name while several may hold it: readers, or holders of permits. No foreign lock looks like it; to a client of the SETNX articles it begins with a time to come.
local SHARED, PERMITS = '99999999999999-nest-redis-lock:shared', '99999999999999-nest-redis-lock:permits'
