// Every number and marker of the protocol. docs/protocol.md says where each one acts; tools/lua.mjs writes their values into
// the scripts.

/** The longest first lease of a pushed grant, in ms. */
export const FIRST_LEASE = 3_000;
/** A waiting process without a heartbeat for this long, in ms, is dead. */
export const SILENCE = 3_000;
/** A heartbeat younger than this, in ms, is not written again. */
export const HEARTBEAT = 200;
/** How long the queue and the heartbeats live after the last ask, in ms. */
export const QUEUE_LIFE = 60_000;
/** How long the token of a permit is remembered for a caller that asks again, in ms. */
export const TOKEN_KNOWN = 60_000;
/** How long a fence lives after the last grant, beyond its lead over the clock, in ms. */
export const FENCE_LIFE = 86_400_000;
/** How long the version of a lock lives beyond the longest lease of its readers, or after an optimistic read, in ms. */
export const VERSION_LIFE = 60_000;
/** How far several tokens at once may lead the clock, in µs. */
export const TOKEN_LEAD = 100_000;
/** The first score of entries that await a condition: no grant reaches them. */
export const AWAITING = 4_000_000_000_000_000;
/** The width of the band of scores for the entries of one condition. */
export const CONDITION_BAND = 4_294_967_296;
/** The rank of an entry that awaits a condition. */
export const AWAITS = -1;
/** The most entries of one process in the batch behind a grant. */
export const LONGEST_BATCH = 64;
/** How much one script does for waiters, in units of about one command. */
export const EFFORT = 1_200;
/** The units of a look at an entry. */
export const LOOK_EFFORT = 3;
/** The units of a grant, on top of the look; and of a grant of several permits, on top of both. */
export const GRANT_EFFORT = 12;
export const SEVERAL_EFFORT = 12;
/** The units of passing on the signal of a dead entry, where a placeholder is left. */
export const PASSED_SIGNAL_EFFORT = 375;
/** The distance between the bands of scores for the members of a lease of several permits. No lease ends so late. */
export const PERMIT_BAND = 10_000_000_000_000;
/** The most expired leases, or old tokens of permits, that one step removes. */
export const EXPIRED_LEASES = 100;
/** The most entries that one step of a signal handles. */
export const SIGNALS = 125;
/** The most entries that one step checks for dead processes, when the queue is full or the asker begins to await. */
export const DEAD_LOOKS = 100;
/** The most holders that one step of force removes. */
export const FORCED = 250;
/** The shortest and the longest pause between two asks of a waiting process, in ms. */
export const ASK_SHORTEST = 700;
export const ASK_LONGEST = 1_000;
/** The shortest pause between any two asks, in ms. */
export const ASK_PAUSE = 5;
/** By how much clocks may differ over a lease: a share of the lease, and some ms. */
export const DRIFT_SHARE = 0.01;
export const DRIFT_LEAST = 2;
/** The greatest age of a sample of the server's clock that still dates a pushed grant, in ms. */
export const SAMPLE_LIFE = 2_000;
/** From this score on, a member of the heartbeats is a token, not a time in ms. */
export const LEAST_TOKEN = 100_000_000_000_000;
/** How long a grant is remembered beside clients of the SETNX articles, in ms. */
export const TAKE_OVER_MEMORY = 1_000;
/** When a lock beside clients of the SETNX articles is rewritten after its grant, in ms: by then a client that lost a take-over has written. */
export const TAKE_OVER_PAUSE = 100;

/** A moment far in the future, read as seconds or as ms. */
export const NEVER = '99999999999999';
/** The value at a lock's name while readers hold it. */
export const SHARED = '99999999999999-nest-redis-lock:shared';
/** The value at a lock's name while callers hold permits of it. */
export const PERMITS = '99999999999999-nest-redis-lock:permits';
/** The value at a lock's name from its release to the end of its minimum hold: the lock has no holder, and is not free. */
export const KEPT = '99999999999999-kept';
