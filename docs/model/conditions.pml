/*
 * Two processes take the lock, await a condition, and want the lock back when it was signalled; a third takes the lock twice
 * and signals. What is on its way is in queue.pml; here answers come at once, and pushes may get lost.
 */
#define PROCESSES 3
#define ROUNDS 2
#define died(id) pass_on_of_dead(id)
#define granted_alone(id) take_signal(id)

byte current[PROCESSES];
bit knows[PROCESSES];
byte deaf = DEAF;
byte crashes = CRASHES;
bit signal_kept = 1, signalled_first = 1, woken_by_signal = 1;

byte band[3];             /* the entries that await, in the order in which they came */
byte awaiting;
bit signalled[8];         /* the kind c of an entry in the queue */
byte owed;                /* signals that were given, and woke nobody yet */
bit told[8];              /* the holder was signalled: so says the answer, or the push */

#include "lock.pml"

inline take_signal(id) {
  told[id] = signalled[id];
  owed = owed - signalled[id]; signalled[id] = 0
}

inline leave_band(id) {
  if
  :: band[0] == id -> band[0] = band[1]; band[1] = 0; awaiting--
  :: band[0] != id && band[1] == id -> band[1] = 0; awaiting--
  :: else
  fi
}

/* includes/conditions.lua signal_next: one, the first who lives */
byte w, n, woken;
inline signal_next() {
  woken = 0;
  do
  :: awaiting == 0 || woken == 1 -> break
  :: else ->
#ifdef SIGNALS_TO_THE_LAST
     w = band[awaiting - 1];
#else
     w = band[0];
#endif
     PROMISE(signalled_first, w == band[0] || !living(process_of(w)) || !living(process_of(band[0])));
     leave_band(w);
     if
     :: living(process_of(w)) -> woken = 1; signalled[w] = 1; arrivals++; arrival[w] = arrivals; queue[waiting] = w; waiting++
     :: else
     fi
  od;
  w = 0
}

/* includes/conditions.lua pass_signal_on: if nobody is there any more, there is nobody to wake */
inline pass_signal_on() {
  signal_next();
  owed = owed - 1 + woken
}

inline pass_on_of_dead(id) {
  if
  :: signalled[id] -> signalled[id] = 0;
#ifndef SIGNAL_DIES
     pass_signal_on()
#endif
  :: else
  fi
}

/* Each signal that was given has somebody in the queue, until that one has the lock. */
inline check_signals() {
  n = 0; i = 0;
  do
  :: i < waiting -> n = n + signalled[queue[i]]; i++
  :: else -> break
  od;
  i = 0;
  PROMISE(signal_kept, n == owed);
  n = 0; woken = 0
}

/* condition/await.lua */
inline await(former, id) {
  if
  :: lock == former ->
     lock = NOBODY; token[former] = 0;
#ifndef WAIT_BEGINS_IN_TWO_STEPS
     band[awaiting] = id; awaiting++;
#endif
     seen[process_of(id)] = 1;
     grant_next(0)
  :: else
  fi
}

/* condition/ask.lua */
inline ask(p, id, over) {
  seen[p] = 1;
  if
  :: lock == id -> reply[p] = HELD
#ifdef GRANT_TO_WHO_AWAITS
  :: false -> skip
#else
  :: lock != id && (band[0] == id || band[1] == id) && !over -> grant_next(0); reply[p] = QUEUED
#endif
  :: else ->
     i = 0;
     do
     :: i < waiting && queue[i] != id -> i++
     :: else -> break
     od;
     if
     :: i < waiting -> skip /* signalled, or over, and there already */
     :: i >= waiting && (band[0] == id || band[1] == id) -> leave_band(id)
     :: else -> signalled[id] = 1 /* forgotten: it counts as signalled */
     fi;
     i = 0;
     join_queue(id, arrival[id] != 0);
     grant_next(id);
     if
     :: lock == id -> reply[p] = HELD
     :: else -> reply[p] = QUEUED
     fi
  fi;
  rejoined = 0
}

/* condition/leave.lua */
inline leave_condition(id) {
  leave_band(id); leave_queue(id);
  if
  :: lock == id -> lock = NOBODY; token[id] = 0; signalled[id] = 1; owed = owed + told[id];
     if
     :: !told[id] -> owed++ /* who was not signalled and does not know it yet passes one on, too: a waiter that wakes for nothing loses nothing */
     :: else
     fi
  :: else
  fi;
  pass_on_of_leaver(id);
  if
  :: waiting > 0 -> grant_next(0)
  :: else
  fi;
  told[id] = 0; arrival[id] = 0
}
inline pass_on_of_leaver(id) {
  if
  :: signalled[id] -> signalled[id] = 0;
#ifndef SIGNAL_LEAVES
     pass_signal_on()
#endif
  :: else
  fi
}

#define NEW 0
#define WAITING 1
#define HOLDS 2
#define AWAITS 3
#define OVER 4     /* its time is over: it wants only the lock */
#define AWAKE 5    /* holds the lock again */
#define DONE 6
#define CRASHED 7
byte state[PROCESSES];
#define finished(p) (state[p] == DONE || state[p] == CRASHED)
#define first_of(p) (p * 2 + 1)

inline next(p, then) { reply[p] = NONE; state[p] = then; away = 0; check_signals() }

inline wakes(p) {
  PROMISE(exclusion, lock == current[p]);
  PROMISE(woken_by_signal, told[current[p]] || state[p] == OVER);
  told[current[p]] = 0; arrival[current[p]] = 0; pushed[current[p]] = 0;
  next(p, AWAKE)
}

/* client/condition-wait.ts */
proctype client(byte p) {
end_client:
  do
  :: atomic { state[p] == NEW || state[p] == WAITING -> choose_away(); printf("%d asks for the lock\n", p);
       d_step { acquire(p, current[p], knows[p], 0);
         if
         :: reply[p] == HELD -> knows[p] = 0; pushed[current[p]] = 0; next(p, HOLDS)
         :: else -> knows[p] = 1; next(p, WAITING)
         fi } }
  :: d_step { pushed[current[p]] && state[p] == WAITING -> printf("%d gets a push\n", p); pushed[current[p]] = 0; knows[p] = 0; next(p, HOLDS) }
  :: d_step { pushed[current[p]] -> pushed[current[p]] = 0 }
  /* one of those that await */
  :: atomic { p < 2 && state[p] == HOLDS -> choose_away(); printf("%d awaits the condition\n", p);
       d_step { await(first_of(p), first_of(p) + 1); current[p] = first_of(p) + 1; next(p, AWAITS) } }
  :: atomic { state[p] == AWAITS || state[p] == OVER -> choose_away(); printf("%d asks whether it was signalled\n", p);
       d_step { ask(p, current[p], (state[p] == OVER));
         if
         :: reply[p] == HELD -> wakes(p)
         :: else -> next(p, state[p])
         fi } }
  :: d_step { pushed[current[p]] && (state[p] == AWAITS || state[p] == OVER) -> printf("%d wakes by a push\n", p); wakes(p) }
  :: d_step { state[p] == AWAITS -> printf("%d has awaited long enough\n", p); state[p] = OVER }
  :: atomic { state[p] == AWAITS || state[p] == OVER -> choose_away(); printf("%d gives up\n", p);
       d_step { pushed[current[p]] = 0; leave_condition(current[p]); forget_heartbeat(p); next(p, DONE) } }
  :: atomic { state[p] == AWAKE -> choose_away(); printf("%d gives the lock back\n", p);
       d_step { release(current[p]); forget_heartbeat(p); next(p, DONE) } }
  /* the one that signals */
  :: d_step { p == 2 && state[p] == HOLDS && !told[0] -> printf("%d signals\n", p); told[0] = 1;
       signal_next(); owed = owed + woken; next(p, HOLDS) }
  :: atomic { p == 2 && state[p] == HOLDS && told[0] -> choose_away(); printf("%d gives the lock back\n", p);
       d_step { release(current[p]); told[0] = 0;
         if
         :: current[p] == first_of(p) -> current[p] = current[p] + 1; next(p, NEW)
         :: else -> forget_heartbeat(p); next(p, DONE)
         fi } }
  :: d_step { crashes > 0 && !finished(p) && state[p] != NEW -> printf("%d dies\n", p); crashes--; state[p] = CRASHED; knows[p] = 0;
       told[0] = (p != 2 && told[0]) }
  od
}

#define dies_out(id) :: d_step { lock == id && state[process_of(id)] == CRASHED -> printf("  the lease of holder %d ends\n", id); \
    lock = NOBODY; token[id] = 0; pushed[id] = 0; told[id] = 0 }
active proctype time() {
end_time:
  do
  dies_out(1) dies_out(2) dies_out(3) dies_out(4) dies_out(5) dies_out(6)
  :: d_step { seen[0] && state[0] == CRASHED -> seen[0] = 0 }
  :: d_step { seen[1] && state[1] == CRASHED -> seen[1] = 0 }
  :: d_step { seen[2] && state[2] == CRASHED -> seen[2] = 0 }
  od
}

init { atomic { current[0] = 1; current[1] = 3; current[2] = 5; run client(0); run client(1); run client(2) } }

#ifdef PROGRESS
/* Who was signalled, or whoever comes after it, gets the lock. */
ltl progress { [] (owed > 0 -> <> (owed == 0)) }
#endif
