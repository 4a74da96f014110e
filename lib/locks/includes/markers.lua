-- What stands at a lock's name while several may hold it: readers, or holders of permits. No foreign lock looks like it.
local SHARED, PERMITS = 'nest-redis-lock:shared', 'nest-redis-lock:permits'
