// Every number and marker of the protocol, once. docs/protocol.md says where each one acts. tools/lua.mjs writes them into the
// scripts, which know them by these names.

/** The longest first lease of a pushed grant, in ms. */
export const FIRST_LEASE = 3_000;
/** A waiting process that has not asked for so long, in ms, is dead. */
export const SILENCE = 3_000;
/** How long a heartbeat, in ms, is recent enough not to be written again. */
export const HEARTBEAT = 200;
/** How long the queue and the heartbeats live after the last ask, in ms. */
export const QUEUE_LIFE = 60_000;
/** How long the token of a permit is known to a caller that asks again, in ms. */
export const TOKEN_KNOWN = 60_000;
/** How long a fence lives after the last grant, beyond its lead over the clock, in ms. */
export const FENCE_LIFE = 86_400_000;
/** How long the version of a lock lives beyond the longest lease of its readers, or after an optimistic read, in ms. */
export const VERSION_LIFE = 60_000;
/** How far several tokens at once may lead the clock, in µs. */
export const TOKEN_LEAD = 100_000;
/** The first score of entries that await a condition: no grant reaches them. */
export const AWAITING = 4_000_000_000_000_000;
/** How many scores the entries of one condition have. */
export const CONDITION_BAND = 4_294_967_296;
/** The rank of an entry that awaits a condition. */
export const AWAITS = -1;
/** How many entries of one process a grant may name as directly behind. */
export const LONGEST_BATCH = 64;
/** How much one script does for those who wait, in units of about one command. */
export const EFFORT = 1_200;
/** The units of the look at an entry. */
export const LOOK_EFFORT = 3;
/** The units of a grant beside that look, and of one that is for several permits beside those. */
export const GRANT_EFFORT = 12;
export const SEVERAL_EFFORT = 12;
/** The units of a signal that passes on where a further step is left. */
export const PASSED_SIGNAL_EFFORT = 375;
/** How far apart the bands of scores are in which leases of several permits have their members: no lease ends so late. */
export const PERMIT_BAND = 10_000_000_000_000;
/** How many leases that are over one step removes. */
export const EXPIRED_LEASES = 100;
/** How many entries one step of a signal deals with. */
export const SIGNALS = 125;
/** How many entries are looked at for dead processes, in one step that finds no room or begins to await. */
export const DEAD_LOOKS = 100;
/** How many holders lose a lock in one step of force. */
export const FORCED = 250;
/** The shortest pause between two asks of a process that waits, in ms, and the longest. */
export const ASK_SHORTEST = 700;
export const ASK_LONGEST = 1_000;
/** The shortest pause between two asks, in ms. */
export const ASK_PAUSE = 5;
/** By how much clocks may differ over a lease: a share of it, and some ms. */
export const DRIFT_SHARE = 0.01;
export const DRIFT_LEAST = 2;
/** How old a sample of the server's clock may be and still place a pushed grant, in ms. */
export const SAMPLE_LIFE = 2_000;
/** From this score on, a member of the heartbeats is a token and no time in ms. */
export const LEAST_TOKEN = 100_000_000_000_000;
/** For how long it is remembered what was granted beside clients of the SETNX articles, in ms. */
export const TAKE_OVER_MEMORY = 1_000;
/** When a lock beside clients of the SETNX articles is written once more, in ms: by then a client that lost a take-over has written. */
export const TAKE_OVER_PAUSE = 100;

/** A moment that no client lives to see, in seconds as in ms. */
export const NEVER = '99999999999999';
/** What stands at a lock's name while several readers hold it. */
export const SHARED = '99999999999999-nest-redis-lock:shared';
/** What stands there while holders of permits do. */
export const PERMITS = '99999999999999-nest-redis-lock:permits';
/** What stands there while nobody holds it, in a minimum hold. */
export const KEPT = '99999999999999-kept';
