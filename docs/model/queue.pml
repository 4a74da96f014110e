/*
 * Three processes want a lock that one has alone: queue, hand-off in the release, pushes, the short ways, giving up, crashes
 * of holders and waiters, commands without an answer, leases that end.
 */
#define PROCESSES 3
#include "lock.pml"
#include "client.pml"

#define all_finished (finished(0) && finished(1) && finished(2))
#define nothing_comes (stray[0] + stray[1] + stray[2] == 0 && pushed[current[0]] + pushed[current[1]] + pushed[current[2]] == 0)
#define lives_on(p) (state[p] == DONE)

/* A caller that is done has nothing and stands nowhere. What a crashed process left has an end. */
inline check_leak() {
  PROMISE(no_leak, lock == NOBODY || lock == SHARED || !lives_on(process_of(lock)));
  i = 0;
  do
  :: i < waiting -> PROMISE(no_leak, !lives_on(process_of(queue[i]))); i++
  :: else -> break
  od;
  i = 1;
  do
  :: i <= IDS -> PROMISE(no_leak, lock != SHARED || !share[i] || !lives_on(process_of(i))); i++
  :: else -> break
  od;
  i = 0
}

active proctype time() {
  bit checked;
end_time:
  do
  passes(1) passes(2) passes(3)
#if ROUNDS == 2
  passes(4) passes(5) passes(6)
#endif
  falls_silent(0) falls_silent(1) falls_silent(2)
  :: d_step { all_finished && nothing_comes && !checked -> check_leak(); checked = 1 }
  od
}

init {
  atomic {
    current[0] = 1; current[1] = 1 + ROUNDS; current[2] = 1 + 2 * ROUNDS;
    run client(0); run client(1); run client(2)
  }
}

/* Everybody who lives gets the lock, gives up, or finds its lease ended: no wake-up is lost. */
#ifdef PROGRESS
ltl progress { <> all_finished }
#endif
