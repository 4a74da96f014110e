/**
 * What is verified: each model within its bounds, and the mistakes that must break it. Bounds are how often each trouble
 * may happen in one run; what is not named does not. `mistake` is the name that it has in test/contracts/planted-in-*.spec.ts,
 * `at` the switch in the model, `breaks` the promise that does not hold then.
 */
export const MODELS = [
  {
    name: 'queue',
    runs: [
      { bounds: { CRASHES: 1, BREAKS: 1, DEAF: 1 } },
      { bounds: { CRASHES: 1, STALLS: 1, DEAF: 1 } },
      { bounds: { BREAKS: 1, STALLS: 1 } },
      { bounds: { CRASHES: 2 } },
      { bounds: { BREAKS: 2 } },
      { bounds: { ROUNDS: 2 } },
      { bounds: { WITH_ONCE: 1, DEAF: 1, CRASHES: 1 } },
      { bounds: { CRASHES: 1, DEAF: 1 }, progress: true },
      { bounds: { STALLS: 1 }, progress: true },
      { bounds: { BREAKS: 1 }, progress: true },
    ],
    mistakes: [
      { mistake: 'taking a lock that is held', at: 'TAKES_WHAT_IS_HELD', breaks: 'exclusion' },
      {
        mistake: 'a short way to a lock that another has',
        at: 'SHORT_WAY_TO_A_HELD_LOCK',
        breaks: 'fencing',
      },
      {
        mistake: 'release without comparing',
        at: 'RELEASE_WITHOUT_COMPARING',
        bounds: { STALLS: 1 },
        breaks: 'fencing',
      },
      {
        mistake: 'a deadline counted from the reply',
        at: 'DEADLINE_FROM_REPLY',
        bounds: { STALLS: 1 },
        breaks: 'exclusion',
      },
      {
        mistake: 'loss by timer only',
        at: 'LOSS_BY_TIMER_ONLY',
        bounds: { STALLS: 1 },
        breaks: 'exclusion',
      },
      {
        mistake: 'a short way past those who wait',
        at: 'SHORT_WAY_PAST_WAITERS',
        bounds: { DEAF: 1 },
        breaks: 'order',
      },
      {
        mistake: 'a newcomer who passes the queue',
        at: 'NEWCOMER_PASSES',
        bounds: { DEAF: 1 },
        breaks: 'order',
      },
      {
        mistake: 'a grant that ignores the order of the queue',
        at: 'ORDER_REVERSED',
        breaks: 'order',
      },
      {
        mistake: 'an entry that moves when it is asked for again',
        at: 'ENTRIES_MOVE',
        breaks: 'order',
      },
      {
        mistake: 'a release without hand-off',
        at: 'RELEASE_WITHOUT_HAND_OFF',
        breaks: 'hand_off',
      },
      {
        mistake: 'a short way that leaves those who wait behind',
        at: 'SHORT_WAY_LEAVES_WAITERS',
        breaks: 'hand_off',
      },
      {
        mistake: 'a repeated acquire that mints anew',
        at: 'REPEATED_ACQUIRE_MINTS',
        breaks: 'same_grant',
      },
      { mistake: 'a fence that stands still', at: 'FENCE_STANDS_STILL', breaks: 'fencing' },
      {
        mistake: 'a zombie acquire',
        at: 'ZOMBIE_ACQUIRE',
        bounds: { BREAKS: 1 },
        breaks: 'no_leak',
      },
      { mistake: 'a leave that forgets a grant', at: 'LEAVE_FORGETS_A_GRANT', breaks: 'no_leak' },
      { mistake: 'a leave that stays in the queue', at: 'LEAVE_STAYS', breaks: 'no_leak' },
      {
        mistake: 'a caller who gives up without leaving',
        at: 'GIVES_UP_WITHOUT_LEAVING',
        breaks: 'no_leak',
      },
      {
        mistake: 'a grant that is taken back',
        at: 'GRANTS_ARE_TAKEN_BACK',
        bounds: { DEAF: 1 },
        trail: true, // longer ways break other promises first
        breaks: 'exclusion',
      },
      {
        mistake: 'a waiter that cannot hear is forgotten',
        at: 'DEAF_ARE_FORGOTTEN',
        bounds: { DEAF: 1 },
        breaks: 'places_kept',
      },
      {
        mistake: 'living entries that are removed',
        at: 'LIVING_ENTRIES_GO',
        breaks: 'places_kept',
      },
      {
        mistake: 'no answer for a repeated acquire',
        at: 'NO_ANSWER_FOR_A_REPEATED_ACQUIRE',
        breaks: 'places_kept',
      },
      {
        mistake: 'dead entries that are never removed',
        at: 'DEAD_ENTRIES_STAY',
        bounds: { CRASHES: 1 },
        breaks: 'dead_pass',
      },
      {
        mistake: 'old asks that are judged only after the answer',
        at: 'OLD_ASKS_JUDGED_ONLY_AFTER_THE_ANSWER',
        bounds: { BREAKS: 1, STALLS: 1 },
        breaks: 'no_leak',
      },
      { mistake: 'no poll', at: 'NO_POLL', progress: true, breaks: 'progress' },
    ],
  },
  {
    name: 'readers',
    runs: [
      { bounds: { CRASHES: 1 } },
      { bounds: { STALLS: 1 } },
      { bounds: { BREAKS: 1 } },
      { bounds: { DEAF: 1 } },
      { bounds: { CRASHES: 1 }, progress: true },
    ],
    mistakes: [
      {
        mistake: 'readers who come in beside a writer',
        at: 'READERS_BESIDE_A_WRITER',
        breaks: 'exclusion',
      },
      {
        mistake: 'a writer who comes in beside readers',
        at: 'TAKES_WHAT_IS_HELD',
        breaks: 'fencing',
      },
      { mistake: 'a downgrade that frees the lock', at: 'DOWNGRADE_FREES', breaks: 'exclusion' },
      {
        mistake: 'a marker that ends with its first reader',
        at: 'MARKER_ENDS_WITH_ITS_FIRST',
        bounds: { CRASHES: 1 },
        breaks: 'exclusion',
      },
      { mistake: 'a reader who passes a waiting writer', at: 'READERS_PASS', breaks: 'order' },
      { mistake: 'readers who come in one by one', at: 'READERS_ONE_BY_ONE', breaks: 'hand_off' },
    ],
  },
  {
    name: 'versions',
    runs: [
      { bounds: { CRASHES: 1, EVICTIONS: 2 } },
      { bounds: { STALLS: 1, EVICTIONS: 2 } },
      { bounds: { DEAF: 1, EVICTIONS: 2 } },
    ],
    mistakes: [
      {
        mistake: 'a writer that leaves the version',
        at: 'WRITER_LEAVES_THE_VERSION',
        breaks: 'optimism',
      },
      {
        mistake: 'a short way that no reader sees',
        at: 'SHORT_WAY_NO_READER_SEES',
        breaks: 'optimism',
      },
      {
        mistake: 'a stamp that does not look for holders',
        at: 'STAMP_DOES_NOT_LOOK',
        breaks: 'optimism',
      },
      {
        mistake: 'a stamp that asks only whether somebody holds the lock now',
        at: 'STAMP_ASKS_WHO_HOLDS',
        breaks: 'optimism',
      },
    ],
  },
  {
    name: 'conditions',
    runs: [
      { bounds: { CRASHES: 1, DEAF: 1 } },
      { bounds: { CRASHES: 2 } },
      { bounds: { CRASHES: 1 }, progress: true },
    ],
    mistakes: [
      {
        mistake: 'a wait that begins in two steps',
        at: 'WAIT_BEGINS_IN_TWO_STEPS',
        breaks: 'signal_kept',
      },
      {
        mistake: 'a grant to who awaits',
        at: 'GRANT_TO_WHO_AWAITS',
        breaks: 'woken_by_signal',
      },
      {
        mistake: 'signals that go to the last who came',
        at: 'SIGNALS_TO_THE_LAST',
        breaks: 'signalled_first',
      },
      {
        mistake: 'a signal that dies with who got it',
        at: 'SIGNAL_DIES',
        bounds: { CRASHES: 1 },
        breaks: 'signal_kept',
      },
      {
        mistake: 'a signal that leaves with who got it',
        at: 'SIGNAL_LEAVES',
        breaks: 'signal_kept',
      },
    ],
  },
  {
    name: 'handover',
    runs: [{ bounds: { BREAKS: 3 } }],
    mistakes: [
      { mistake: 'a transfer by anybody', at: 'TRANSFER_BY_ANYBODY', breaks: 'exclusion' },
      {
        mistake: 'no answer for a repeated transfer',
        at: 'NO_ANSWER_FOR_A_REPEATED_TRANSFER',
        bounds: { BREAKS: 1 },
        breaks: 'no_leak',
      },
      {
        mistake: 'a transfer after its caller’s patience',
        at: 'LATE_TRANSFER',
        bounds: { BREAKS: 1 },
        breaks: 'no_leak',
      },
      {
        mistake: 'a giver that leaves its ids in the other order',
        at: 'LEAVES_IN_THE_OTHER_ORDER',
        bounds: { BREAKS: 1 },
        breaks: 'no_leak',
      },
    ],
  },
];
