/*
 * A holder hands its lease over: it gives a text away, and of two processes that have the text, one goes on with the lease.
 * A fourth takes the lock whenever it is free. Answers get lost, commands arrive late, leases end.
 */
#define NOBODY 0
#define GIVER 1       /* the holder ids: the giver's, */
#define ON_THE_WAY 2  /* the one that the text names, */
#define HEIR 3        /* those of who restore it, */
#define OTHER 4
#define STRANGER 5    /* and of who waits */

bit exclusion = 1, no_leak = 1;
#define PROMISE(name, holds) name = (holds); assert(name)

byte lock = GIVER;    /* in Redis */
bit text;             /* the giver's caller has it */
byte breaks = BREAKS; /* of connections, with a command under way */

#define HOLDS 0
#define WANTS 1
#define SENT 2
#define LEAVING 3
#define LEAVING_NEXT 4
#define AGAIN 5
#define DONE 6
byte state[5];
bit believes[6];
bit stray[5];         /* a transfer that nobody waits for any more, and that may still run */
bit unsure[5];        /* its not_after has not passed */
bit ours;

#define believed (believes[GIVER] + believes[HEIR] + believes[OTHER] + believes[STRANGER])

/* lock/transfer.lua */
inline transfer(former, id) {
  if
#ifdef TRANSFER_BY_ANYBODY
  :: lock != NOBODY -> lock = id; ours = 1
#else
  :: lock == former -> lock = id; ours = 1
#endif
#ifndef NO_ANSWER_FOR_A_REPEATED_TRANSFER
  :: lock == id && lock != former -> ours = 1
  :: lock != id && lock != former -> ours = 0
#else
  :: lock != former -> ours = 0
#endif
  fi
}

/* lock/leave.lua lock/release.lua */
inline give_back(id) {
  if
  :: lock == id -> lock = NOBODY
  :: else
  fi
}

inline enter(id) {
  believes[id] = 1;
  PROMISE(exclusion, believed == 1)
}

/* client/leases/lease-registry.ts, handOver(): the giver leaves its own id first. In this order a late transfer leaves nothing. */
#ifdef LEAVES_IN_THE_OTHER_ORDER
#define left_first(p) (p == GIVER -> ON_THE_WAY : p)
#define left_next(p) (p == GIVER -> GIVER : p)
#else
#define left_first(p) p
#define left_next(p) (p == GIVER -> ON_THE_WAY : p)
#endif
#ifdef LATE_TRANSFER
#define obeys_not_after false
#else
#define obeys_not_after true
#endif

/* client/leases/lease-registry.ts client/leases/hand-over.ts: moves the lease from one id to another. */
proctype mover(byte p, former, id) {
end_mover:
  do
  :: d_step { state[p] == HOLDS && believes[p] -> believes[p] = 0;
       if
       :: p == GIVER -> printf("%d hands over\n", p); state[p] = SENT
       :: else -> printf("%d gives back\n", p); state[p] = LEAVING
       fi }
  :: d_step { state[p] == HOLDS && believes[p] -> printf("%d sees that its lease is over\n", p); believes[p] = 0; state[p] = LEAVING }
  :: d_step { state[p] == WANTS && text -> printf("%d restores\n", p); state[p] = SENT }
  :: d_step { state[p] == SENT -> transfer(former, id); printf("%d its transfer runs\n", p);
       if
       :: ours && p == GIVER -> text = 1; state[p] = DONE
       :: ours && p != GIVER -> enter(p); state[p] = HOLDS
       :: else -> state[p] = DONE
       fi;
       ours = 0 }
  :: atomic { state[p] == SENT && breaks > 0 && !unsure[p] -> printf("%d gets no answer\n", p);
       breaks--; stray[p] = 1; unsure[p] = 1;
       if
       :: p != GIVER -> skip                 /* who restores asks again, */
       :: state[p] = LEAVING                 /* or gives up; the giver leaves at once */
       fi }
  :: d_step { stray[p] && (unsure[p] || !obeys_not_after) -> printf("%d its old transfer runs\n", p);
       stray[p] = 0; transfer(former, id); ours = 0 }
  :: d_step { unsure[p] -> unsure[p] = 0;
       if
       :: obeys_not_after -> stray[p] = 0
       :: else
       fi }
  /* client/leases/cleanup.ts */
  :: d_step { state[p] == LEAVING -> printf("%d leaves\n", p); give_back(left_first(p)); state[p] = LEAVING_NEXT }
  :: d_step { state[p] == LEAVING_NEXT -> printf("%d leaves its other id\n", p); give_back(left_next(p));
       if
       :: unsure[p] && p != GIVER -> state[p] = AGAIN
       :: else -> state[p] = DONE
       fi }
  :: d_step { state[p] == AGAIN && !unsure[p] -> state[p] = LEAVING }
  od
}

proctype stranger() {
end_stranger:
  do
  :: d_step { lock == NOBODY -> lock = STRANGER; enter(STRANGER) }
  :: d_step { believes[STRANGER] -> believes[STRANGER] = 0; give_back(STRANGER) }
  od
}

/* A lease ends that nobody renews. When all is over, only the text may still stand for one. */
#define all_done (state[GIVER] == DONE && (state[HEIR] == DONE || !text) && (state[OTHER] == DONE || !text))
#define nothing_comes (stray[GIVER] + stray[HEIR] + stray[OTHER] == 0)
proctype time() {
end_time:
  do
  :: d_step { lock != NOBODY && !believes[lock] -> printf("  the lease of holder %d ends\n", lock); lock = NOBODY }
  :: d_step { all_done && nothing_comes -> PROMISE(no_leak, lock == NOBODY || lock == STRANGER || (lock == ON_THE_WAY && text)) }
  od
}

init {
  atomic {
    believes[GIVER] = 1; state[HEIR] = WANTS; state[OTHER] = WANTS;
    run mover(GIVER, GIVER, ON_THE_WAY); run mover(HEIR, ON_THE_WAY, HEIR); run mover(OTHER, ON_THE_WAY, OTHER);
    run stranger(); run time()
  }
}
