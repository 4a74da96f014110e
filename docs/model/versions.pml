/*
 * An optimistic reader beside three writers: it holds nothing, and asks whether anybody held the lock alone meanwhile.
 */
#define granted_alone(id) written = 1
bit written;  /* somebody held the lock alone since the stamp was taken */
byte stamped; /* the version then */
bit optimism = 1;
/* How often Redis loses the version: each time the next one costs a token, and the search has to end. */
#ifndef EVICTIONS
#define EVICTIONS 2
#endif
byte evictions;
#include "queue.pml"

#define held_alone (lock != NOBODY && lock != SHARED)

/* lock/stamp.lua includes/tokens.lua plant_version locks/stamp.ts */
active proctype reader_without_lock() {
end_reader:
  do
#ifdef STAMP_DOES_NOT_LOOK
  :: d_step { stamped == 0 ->
#else
  :: d_step { stamped == 0 && !held_alone ->
#endif
       plant_version(); stamped = version; written = held_alone }
  :: d_step { stamped != 0 ->
       if
       :: held_alone -> skip
       :: else ->
          plant_version();
#ifdef STAMP_ASKS_WHO_HOLDS
          PROMISE(optimism, !written)
#else
          PROMISE(optimism, version != stamped || !written)
#endif
       fi;
       stamped = 0; written = 0 }
  /* the version's time to live is over, or Redis evicts it */
  :: d_step { version != 0 && evictions < EVICTIONS -> version = 0; evictions++ }
  od
}
