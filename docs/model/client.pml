/*
 * What a process does on its side: lib/engine/client. One caller of it wants the lock; with ROUNDS 2 it wants it twice, or begins
 * anew with another holder id. Each asynchronous call is three steps: it is sent, it runs on the server, its answer comes.
 */
#define NEW 0
#define SHORT 1       /* the short way to a free lock is under way */
#define SENT 2        /* an ask is */
#define ANSWERED 3
#define WAITING 4
#define HOLDS 5
#define SHORT_BACK 6  /* the short way back */
#define RELEASING 7
#define LEAVING 8
#define AGAIN 9       /* a leave is repeated when nothing that was sent before can take effect any more */
#define DOWNGRADING 10
#define DONE 11
#define CRASHED 12

byte state[PROCESSES];
byte current[PROCESSES];    /* the holder id in use */
bit knows[PROCESSES];       /* its arrival */
bit once[PROCESSES];        /* it asks once, and does not wait */
bit believes[PROCESSES];    /* HeldLease.held: what its code sees */
byte stray[PROCESSES];      /* an ask that nobody waits for any more, and that may still run */
bit leaves_twice[PROCESSES]; /* it was unsure when it sent what gives the lock back */
bit unsure[PROCESSES];      /* InFlight.isUncertain: its not_after has not passed, so it may still run for all that the client knows */
byte used;                  /* the last token that was used */

/* How much trouble there may be in one run. */
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef BREAKS
#define BREAKS 1
#endif
#ifndef DEAF
#define DEAF 1
#endif
#ifndef STALLS
#define STALLS 1
#endif
byte crashes = CRASHES;     /* of processes */
byte breaks = BREAKS;       /* of connections, with a command under way */
byte deaf = DEAF;            /* of scripts whose pushes do not reach somebody */
byte stalls = STALLS;       /* of processes that live, longer than a lease or their heartbeat */

#ifdef ZOMBIE_ACQUIRE
#define obeys_not_after false
#else
#define obeys_not_after true
#endif
#define knows_its_place(p) (knows[p] && stray[p] == current[p])

/* For the promise of progress, some have to have patience. */
#ifdef PROGRESS
#define may_give_up(p) (p == 2)
#else
#define may_give_up(p) true
#endif
#define finished(p) (state[p] == DONE || state[p] == CRASHED)
#define holds_alone(p) (believes[p] && !reader[current[p]])

/* client/leases/held-lease.ts client/queue/local-queue.ts */
inline enter(p, told) {
  i = 0;
  do
  :: i < PROCESSES ->
     PROMISE(exclusion, i == p || !believes[i] || (reader[current[p]] && reader[current[i]]));
     i++
  :: else -> break
  od;
  i = 0;
  if
  :: !reader[current[p]] ->
     PROMISE(same_grant, token[current[p]] == 0 || token[current[p]] == told);
     PROMISE(fencing, told > used);
     used = told
  :: else -> PROMISE(fencing, told >= used)
  fi;
  believes[p] = 1; state[p] = HOLDS; reply[p] = NONE; reply_token[p] = 0; pushed[current[p]] = 0
}

/* A call is over; what is of no matter any more is forgotten, so that there are fewer states. */
inline finish(p) {
  reply[p] = NONE; reply_token[p] = 0; knows[p] = 0; once[p] = 0; due[current[p]] = 0;
  if
  :: obeys_not_after -> stray[p] = 0
  :: else
  fi;
  unsure[p] = 0; leaves_twice[p] = 0; ended[current[p]] = 0;
  if
  :: current[p] < (p + 1) * ROUNDS -> current[p] = current[p] + 1; state[p] = NEW
  :: else -> state[p] = DONE; forget_heartbeat(p); silenced[p] = 0
  fi
}

inline after_giving_back(p) {
  if
  :: !unsure[p] && !leaves_twice[p] -> finish(p)
  :: else -> state[p] = AGAIN
  fi
}

proctype client(byte p) {
end_client:
  do
  /* client/queue/queue-entry.ts: asks for the first time; locks/lock/fast-path.ts: by the short way, where that is likely to do */
  :: atomic { state[p] == NEW && (p == 0 || state[p - (p > 0)] != NEW) -> printf("%d wants the lock, and asks\n", p);
       if
#ifdef WITH_READERS
       :: reader[current[p]] = 1; state[p] = SENT
#endif
#ifdef WITH_ONCE
       :: once[p] = 1; state[p] = SENT
#endif
       :: state[p] = SENT
       :: state[p] = SHORT
       fi }
  :: d_step { state[p] == SHORT -> printf("%d the short way runs\n", p);
       acquire_free(p, current[p]);
       if
       :: reply[p] == HELD -> state[p] = ANSWERED
       :: else -> state[p] = SENT
       fi }
  :: atomic { state[p] == SENT -> choose_away(); printf("%d its ask runs\n", p);
       d_step { acquire(p, current[p], knows[p], once[p]); away = 0;
         if
         :: reply[p] == QUEUED -> state[p] = WAITING; knows[p] = 1; reply[p] = NONE
         :: reply[p] == BUSY -> finish(p)
         :: else -> state[p] = ANSWERED
         fi } }
  /* QueueEntry.#answered */
  :: d_step { state[p] == ANSWERED && (reply[p] == HELD || reply[p] == STALE) -> printf("%d hears that it holds the lock\n", p);
       if
#ifdef DEADLINE_FROM_REPLY
       :: true ->
#else
       :: reply[p] == HELD && !due[current[p]] ->
#endif
          enter(p, reply_token[p])
#ifndef DEADLINE_FROM_REPLY
       :: else -> state[p] = LEAVING; reply[p] = NONE; reply_token[p] = 0 /* expired before it could be used */
#endif
       fi }
  /* client/queue/queue-poller.ts: asks again */
#ifdef NO_POLL
  :: d_step { state[p] == WAITING && !knows[p] -> state[p] = SENT }
#else
  :: d_step { state[p] == WAITING -> printf("%d asks again\n", p); state[p] = SENT }
#endif
  /* QueueEntry.granted: a push. It is a hint: where it is too late to be sure, asking settles it */
  :: d_step { pushed[current[p]] && (state[p] == WAITING || state[p] == ANSWERED) -> printf("%d gets a push\n", p);
       if
       :: due[current[p]] -> pushed[current[p]] = 0
       :: else -> enter(p, token[current[p]])
       fi }
  /* the same with an ask under way, which may still run when the caller has given the lock back */
  :: d_step { pushed[current[p]] && state[p] == SENT && breaks > 0 && !unsure[p] && stray[p] == 0 && !due[current[p]] ->
       printf("%d gets a push with an ask under way\n", p); breaks--; stray[p] = current[p]; unsure[p] = 1; enter(p, token[current[p]]) }
  /* lock-client.ts: a grant for nobody is given back */
  :: atomic { pushed[current[p]] && state[p] == DONE -> choose_away(); printf("%d gets a push that nobody waits for, and leaves\n", p);
       d_step { pushed[current[p]] = 0; leave(current[p]); away = 0 } }
  :: d_step { pushed[current[p]] && (state[p] == HOLDS || state[p] == LEAVING || state[p] == AGAIN) -> pushed[current[p]] = 0 }
  /* the caller gives up: what it sent runs before the leave, unless the connection broke */
  :: d_step { (state[p] == WAITING || state[p] == ANSWERED) && may_give_up(p) -> printf("%d gives up\n", p);
       reply[p] = NONE; reply_token[p] = 0; state[p] = LEAVING }
  /* no answer: the connection breaks with the ask under way */
  :: d_step { state[p] == SENT && breaks > 0 && !unsure[p] && stray[p] == 0 && !once[p] -> printf("%d loses its connection with an ask under way\n", p);
       breaks--; stray[p] = current[p]; unsure[p] = 1; state[p] = WAITING }
  /* client/leases/lease-registry.ts: gives the lock back */
  :: atomic { state[p] == HOLDS && believes[p] -> printf("%d gives the lock back\n", p); believes[p] = 0;
       if
       :: state[p] = RELEASING
       :: !unsure[p] && !knows[p] && !reader[current[p]] -> state[p] = SHORT_BACK
       fi }
  :: d_step { state[p] == SHORT_BACK -> printf("%d the short way back runs\n", p);
       release_free(p, current[p]);
       if
       :: reply[p] == NONE -> state[p] = RELEASING
       :: else -> after_giving_back(p)
       fi }
  :: atomic { state[p] == RELEASING -> choose_away(); printf("%d its release runs\n", p); d_step { release(current[p]); after_giving_back(p); away = 0 } }
  /* the answer is lost: what may have been given back is given back again */
  :: atomic { state[p] == RELEASING && breaks > 0 -> breaks--; choose_away(); printf("%d its release runs, and the answer is lost\n", p);
       d_step { release(current[p]); state[p] = LEAVING; away = 0 } }
  :: d_step { state[p] == RELEASING && breaks > 0 -> printf("%d its release is lost\n", p); breaks--; state[p] = LEAVING }
  /* its deadline has passed: HeldLease.held says so at once, and the watchdog gives back what may be left */
  :: d_step { state[p] == HOLDS && (!believes[p] || due[current[p]]) -> printf("%d sees that its lease is over\n", p); believes[p] = 0; state[p] = LEAVING }
#ifdef WITH_READERS
  :: d_step { state[p] == HOLDS && believes[p] && !reader[current[p]] -> printf("%d wants to read on\n", p); state[p] = DOWNGRADING }
  :: atomic { state[p] == DOWNGRADING -> choose_away(); printf("%d its downgrade runs\n", p);
       d_step { downgrade(p, current[p]); away = 0;
         if
         :: reply[p] == HELD && believes[p] -> state[p] = HOLDS
         :: else -> believes[p] = 0; state[p] = LEAVING
         fi;
         reply[p] = NONE } }
#endif
  /* client/leases/cleanup.ts */
  :: atomic { state[p] == LEAVING -> choose_away(); printf("%d its leave runs\n", p);
#ifndef GIVES_UP_WITHOUT_LEAVING
       d_step { leave(current[p]); after_giving_back(p); away = 0 } }
#else
       d_step { after_giving_back(p); away = 0 } }
#endif
  :: atomic { state[p] == AGAIN && !unsure[p] -> choose_away(); printf("%d its second leave runs\n", p);
       d_step { leave(current[p]); finish(p); away = 0 } }
  /* the process dies; what it sent may still arrive */
  :: d_step { crashes > 0 && !finished(p) && state[p] != NEW && (state[p] != SENT || (stray[p] == 0 && !unsure[p])) -> printf("%d dies\n", p);
       crashes--; believes[p] = 0; reply[p] = NONE; reply_token[p] = 0; knows[p] = 0;
       if
       :: state[p] == SENT -> stray[p] = current[p]; unsure[p] = 1
       :: else
       fi;
       state[p] = CRASHED; forget_heartbeat(p) }
  /* an ask that nobody waits for any more arrives */
  :: atomic { stray[p] != 0 && (unsure[p] || !obeys_not_after) -> choose_away(); printf("%d an old ask of it runs\n", p);
       d_step { acquire(PROCESSES, stray[p], knows_its_place(p), 0);
         reply[PROCESSES] = NONE; reply_token[PROCESSES] = 0; stray[p] = 0; away = 0 } }
  /* its not_after passes: if it arrives now, the script changes nothing. The client knows the same, whether it ran or not */
  :: d_step { unsure[p] -> printf("%d its old ask is too late now\n", p); unsure[p] = 0;
#ifndef OLD_ASKS_JUDGED_ONLY_AFTER_THE_ANSWER
       leaves_twice[p] = (state[p] == RELEASING || state[p] == SHORT_BACK || state[p] == LEAVING);
#endif
       if
       :: obeys_not_after -> stray[p] = 0
       :: else
       fi }
  /* a push gets lost */
  :: d_step { pushed[current[p]] -> printf("%d a push to it gets lost\n", p); pushed[current[p]] = 0 }
  od
}

/* Time passes. Of who lives, a lease or a heartbeat ends only where it stalls: it renews, and asks, in time else. */
#define may_end(id) (!due[id] && state[process_of(id)] != CRASHED && stalls > 0)
#define lease_of(id) (lock == id || share[id])
#define passes(id) :: d_step { lease_of(id) && may_end(id) -> printf("  the deadline of holder %d passes\n", id); due[id] = 1; deadline_passes(id) } \
  :: d_step { lease_of(id) && (due[id] || state[process_of(id)] == CRASHED) -> printf("  the lease of holder %d ends\n", id); expire(id) }
#define falls_silent(p) :: d_step { seen[p] && state[p] == CRASHED -> printf("  %d counts as dead\n", p); seen[p] = 0 } \
  :: d_step { seen[p] && state[p] == WAITING && stalls > 0 -> printf("  %d stalls, and counts as dead\n", p); stalls--; seen[p] = 0; silenced[p] = 1 }

inline deadline_passes(id) {
  stalls--;
#ifndef LOSS_BY_TIMER_ONLY
  if
  :: current[process_of(id)] == id -> believes[process_of(id)] = 0
  :: else
  fi
#endif
}
