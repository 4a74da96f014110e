/*
 * The server's side: what stands in Redis for one lock, and the scripts. Each script is one indivisible step here as there.
 * Above each inline stands the file that it is a model of, below lib/engine/locks.
 *
 * A holder id is a number from 1 on. Each process has ROUNDS of them, and uses each for one grant.
 */
#define NOBODY 0
#define SHARED 255 /* the marker of readers */
#define IDS (PROCESSES * ROUNDS)
#define process_of(id) ((id - 1) / ROUNDS)

#ifndef ROUNDS
#define ROUNDS 1
#endif

/* The promises. A run stops with the name of the one that does not hold. */
bit exclusion = 1, order = 1, hand_off = 1, same_grant = 1, no_leak = 1, fencing = 1, places_kept = 1, dead_pass = 1;
#define PROMISE(name, holds) name = (holds); assert(name)

/* In Redis. */
byte lock;                /* who holds it alone, or the marker */
byte token[IDS + 1];      /* what stands behind the id; of a reader: what it was told */
bit share[IDS + 1];       /* the members of `holders` */
byte fence;
byte version;
byte queue[IDS + 1];      /* the last place is always empty */
byte waiting;
byte arrival[IDS + 1];
byte arrivals;
bit seen[PROCESSES];      /* whether a process has shown itself lately */

/* On its way. */
bit pushed[IDS + 1];      /* a grant, to the inbox of its process */
byte reply[PROCESSES + 1]; /* the last: nobody waits for it */
byte reply_token[PROCESSES + 1];
#define NONE 0
#define HELD 1
#define QUEUED 2
#define BUSY 3
#define STALE 4           /* a grant that has ended since */

/* The time, as far as it matters: the deadline that the holder knows has passed. It is before the server's end. */
bit due[IDS + 1];

bit reader[IDS + 1];      /* the kind of an entry: s, else x */
bit silenced[PROCESSES];  /* was taken for dead, and lived */
bit ended[IDS + 1];       /* was granted once, and the lease ended */

/* Of one script: nobody hears the inboxes of these processes; then scratch. */
byte away;
byte at, e, i, beside, rejoined;

#define is_away(process) ((away >> (process)) & 1)
#define nobody_knows (knows[0] + knows[1] + knows[2] == 0)
#define living(process) (seen[process])

/* Whom a script does not reach: nobody, all, the first waiter or the second. */
inline choose_away() {
  if
  :: away = 0
  :: waiting > 0 && deaf > 0 -> deaf--; away = 255
  :: waiting > 1 && deaf > 0 -> deaf--; away = 1 << process_of(queue[0])
#ifdef WITH_READERS
  :: waiting > 1 && deaf > 0 -> deaf--; away = 1 << process_of(queue[1])
#endif
  fi
}

/* What a model adds. */
#ifndef granted_alone
#define granted_alone(id) skip
#endif
#ifndef died
#define died(id) skip
#endif

/* includes/queue.lua is_alive */
#ifdef DEAD_ENTRIES_STAY
#define lives(process) true
#elif defined(LIVING_ENTRIES_GO)
#define lives(process) false
#else
#define lives(process) living(process)
#endif

/* includes/queue.lua nobody_waits */
#ifdef READERS_PASS
#define nobody_waits() true
#else
#define nobody_waits() (waiting == 0)
#endif

/* includes/grant.lua fits */
#ifdef READERS_BESIDE_A_WRITER
#define fits(id) (lock == NOBODY || reader[id])
#elif defined(READERS_ONE_BY_ONE)
#define fits(id) (lock == NOBODY)
#else
#define fits(id) (lock == NOBODY || (lock == SHARED && reader[id]))
#endif
#define truly_fits(id) (lock == NOBODY || (lock == SHARED && reader[id]))

/* includes/tokens.lua mint_fencing_tokens */
inline next_token() {
#ifdef FENCE_STANDS_STILL
  fence = 1
#else
  fence = fence + 1
#endif
}

inline mint(id) {
  next_token();
  token[id] = fence
}

/* includes/tokens.lua plant_version */
inline plant_version() {
  if
  :: version == 0 ->
     next_token();
     version = fence
  :: else
  fi
}

/* Nobody who lives, hears and waited before may be passed. */
inline check_order(id) {
  i = 0;
  do
  :: i < waiting && queue[i] != id && living(process_of(queue[i])) && !is_away(process_of(queue[i])) ->
     PROMISE(order, arrival[id] != 0 && arrival[id] < arrival[queue[i]]);
     i++
  :: i < waiting && (queue[i] == id || !living(process_of(queue[i])) || is_away(process_of(queue[i]))) -> i++
  :: i >= waiting -> break
  od;
  i = 0
}

/* includes/grant.lua add_holder: a new marker has none of the former holders */
inline begin_holders() {
  i = 1;
  do
  :: i <= IDS && lock == NOBODY -> share[i] = 0; i++
  :: else -> break
  od;
  i = 0
}

/* includes/grant.lua add_holder, hold_alone; includes/holders.lua refresh_marker */
inline hold(id) {
  if
  :: reader[id] -> begin_holders(); share[id] = 1; lock = SHARED; plant_version(); token[id] = version
  :: else -> lock = id; mint(id);
#ifndef WRITER_LEAVES_THE_VERSION
     version = 0;
#endif
     granted_alone(id)
  fi;
  due[id] = 0
}

/* includes/holders.lua remove_holder */
inline remove_holder(id) {
  share[id] = 0; token[id] = 0; beside = 0; i = 1;
  do
  :: i <= IDS -> beside = beside || share[i]; i++
  :: else -> break
  od;
  i = 0;
  if
  :: !beside -> lock = NOBODY
  :: else
  fi;
  beside = 0
}

/* includes/queue.lua leave_queue */
inline leave_queue(id) {
  i = 0;
  do
  :: i < waiting && queue[i] != id -> i++
  :: else -> break
  od;
  if
  :: i < waiting ->
     do
     :: i < waiting -> queue[i] = queue[i + 1]; i++
     :: else -> break
     od;
     waiting--; queue[waiting] = 0
  :: else
  fi;
  i = 0
}

/* Who is dead and waits nowhere: no need to tell when that was found. */
inline forget_heartbeat(p) {
  i = 0;
  do
  :: i < waiting && process_of(queue[i]) != p -> i++
  :: else -> break
  od;
  if
  :: i >= waiting -> seen[p] = 0
  :: else
  fi;
  i = 0
}

/* includes/queue.lua join_queue, tail_of_queue, keep_waiting */
inline join_queue(id, place_known) {
  if
  :: waiting == 0 && nobody_knows -> arrivals = 0
  :: else
  fi;
  seen[process_of(id)] = 1; rejoined = 0; i = 0;
  do
  :: i < waiting && queue[i] != id -> i++
  :: else -> break
  od;
  if
  :: i < waiting ->
#ifdef ENTRIES_MOVE
     leave_queue(id); queue[waiting] = id; waiting++
#endif
     skip
  :: else ->
     if
     :: place_known -> rejoined = 1
     :: else -> arrivals++; arrival[id] = arrivals
     fi;
     i = waiting;
     do
     :: i > 0 && arrival[queue[i - (i > 0)]] > arrival[id] -> queue[i] = queue[i - 1]; i--
     :: else -> break
     od;
     queue[i] = id; waiting++
  fi;
  i = 0
}

/* includes/grant.lua grant_next */
inline grant_next(asker) {
  at = 0;
  do
  :: at >= waiting || (lock != NOBODY && lock != SHARED) -> break
  :: else ->
#ifdef ORDER_REVERSED
     e = queue[waiting - 1 - at];
#else
     e = queue[at];
#endif
     if
     :: e != asker && !lives(process_of(e)) -> leave_queue(e); died(e)
     :: (e == asker || lives(process_of(e))) && !fits(e) -> break
     :: e == asker && fits(e) -> check_order(e); leave_queue(e); hold(e)
     :: e != asker && lives(process_of(e)) && fits(e) && !is_away(process_of(e)) ->
        PROMISE(dead_pass, living(process_of(e)));
        check_order(e); leave_queue(e); hold(e); pushed[e] = 1
     :: e != asker && lives(process_of(e)) && fits(e) && is_away(process_of(e)) ->
        if
        :: reader[e] -> plant_version()
        :: else -> version = 0 /* a token is minted, too, and used by nobody */
        fi;
#ifdef GRANTS_ARE_TAKEN_BACK
        mint(e); pushed[e] = 1; /* nobody hears it here, so the lock goes to the next: but at a replica it was heard */
#endif
#ifdef DEAF_ARE_FORGOTTEN
        leave_queue(e)
#else
        at++
#endif
     fi
  od;
  handed_on();
  at = 0; e = 0
}

/* A step by which a lock comes free gives it to whoever is the next that lives and hears. */
inline handed_on() {
  i = 0;
  do
  :: i < waiting && (!living(process_of(queue[i])) || (is_away(process_of(queue[i])) && truly_fits(queue[i]))) -> i++
  :: else -> break
  od;
  PROMISE(hand_off, i >= waiting || !truly_fits(queue[i]));
  i = 0
}

/* lock/acquire-free.lua */
inline acquire_free(p, id) {
  if
#ifdef SHORT_WAY_TO_A_HELD_LOCK
  :: waiting == 0 && version == 0 ->
#elif defined(SHORT_WAY_PAST_WAITERS)
  :: lock == NOBODY && version == 0 ->
#elif defined(SHORT_WAY_NO_READER_SEES)
  :: lock == NOBODY && waiting == 0 ->
#else
  :: lock == NOBODY && waiting == 0 && version == 0 ->
#endif
     check_order(id); 
#ifdef SHORT_WAY_NO_READER_SEES
     lock = id; mint(id); due[id] = 0; granted_alone(id);
#else
     hold(id);
#endif
     reply[p] = HELD; reply_token[p] = token[id]
  :: else -> reply[p] = NONE
  fi
}

/* lock/acquire.lua shares/acquire.lua */
inline acquire(p, id, place_known, asks_once) {
  if
#ifndef NO_ANSWER_FOR_A_REPEATED_ACQUIRE
  :: lock == id || (share[id] && lock == SHARED) ->
     reply[p] = HELD;
#ifdef REPEATED_ACQUIRE_MINTS
     fence++; reply_token[p] = fence;
#else
     reply_token[p] = token[id];
#endif
#else
  :: false -> skip
#endif
#ifdef TAKES_WHAT_IS_HELD
  :: lock != id && !share[id] && !reader[id] && waiting == 0 -> hold(id); reply[p] = HELD; reply_token[p] = token[id]
#endif
#ifdef NEWCOMER_PASSES
  :: lock == NOBODY && !reader[id] && !place_known -> check_order(id); hold(id); reply[p] = HELD; reply_token[p] = token[id]
#endif
#ifdef NO_ANSWER_FOR_A_REPEATED_ACQUIRE
  :: true ->
#else
  :: else ->
#endif
     if
     :: (lock == NOBODY || (reader[id] && fits(id))) && nobody_waits() ->
        check_order(id); hold(id); reply[p] = HELD; reply_token[p] = token[id]
     :: else ->
        if
        :: asks_once ->
           grant_next(0);
           if
           :: (lock == NOBODY || (reader[id] && fits(id))) && nobody_waits() ->
              check_order(id); hold(id); reply[p] = HELD; reply_token[p] = token[id]
           :: else -> reply[p] = BUSY
           fi
        :: else ->
           join_queue(id, place_known);
           PROMISE(places_kept, !rejoined || p == PROCESSES || silenced[process_of(id)] || ended[id]);
           grant_next(id);
           if
           :: lock == id || share[id] -> reply[p] = HELD; reply_token[p] = token[id]
           :: else -> reply[p] = QUEUED
           fi
        fi
     fi
  fi;
  rejoined = 0
}

/* lock/release-free.lua */
inline release_free(p, id) {
  if
#ifndef SHORT_WAY_LEAVES_WAITERS
  :: waiting > 0 -> reply[p] = NONE /* the script itself follows */
#else
  :: false -> skip
#endif
  :: else ->
     if
     :: lock == id -> lock = NOBODY; token[id] = 0; handed_on()
     :: else
     fi;
     reply[p] = BUSY
  fi
}

/* lock/release.lua shares/release.lua */
inline release(id) {
  if
#ifdef RELEASE_WITHOUT_COMPARING
  :: lock != NOBODY && lock != SHARED -> token[lock] = 0; lock = NOBODY; grant_next(0)
#else
  :: lock == id -> lock = NOBODY; token[id] = 0;
#ifdef RELEASE_WITHOUT_HAND_OFF
     handed_on()
#else
     grant_next(0)
#endif
#endif
  :: lock == SHARED && share[id] -> remove_holder(id); grant_next(0)
  :: else
  fi
}

/* lock/leave.lua */
inline leave(id) {
#ifndef LEAVE_STAYS
  leave_queue(id);
#endif
  if
#ifndef LEAVE_FORGETS_A_GRANT
  :: lock == id -> lock = NOBODY; token[id] = 0
#endif
  :: lock == SHARED && share[id] -> remove_holder(id)
  :: else
  fi;
  if
  :: waiting > 0 -> grant_next(0)
  :: else
  fi
}

/* lock/downgrade.lua */
inline downgrade(p, id) {
  if
  :: lock == id ->
     reader[id] = 1; lock = NOBODY; begin_holders();
#ifdef DOWNGRADE_FREES
     skip;
#else
     share[id] = 1; lock = SHARED; version = token[id];
#endif
     if
     :: waiting > 0 -> grant_next(0)
     :: else
     fi;
     reply[p] = HELD
  :: else -> reply[p] = BUSY
  fi
}

/* The server ends a lease: nobody runs anything for it. */
inline expire(id) {
  if
  :: lock == id -> lock = NOBODY; token[id] = 0
#ifdef MARKER_ENDS_WITH_ITS_FIRST
  :: share[id] -> share[id] = 0; lock = NOBODY; token[id] = 0
#else
  :: share[id] -> remove_holder(id)
#endif
  fi;
  pushed[id] = 0; ended[id] = 1;
#ifndef DEADLINE_FROM_REPLY
  if
  :: reply[process_of(id)] == HELD && current[process_of(id)] == id -> reply[process_of(id)] = STALE
  :: else
  fi;
#endif
  due[id] = 0
}
