/** All keys of a lock of our own, as its scripts declare them. */
export const NATIVE_KEYS = ['lock', 'queue', 'seen', 'fence', 'holders'] as const;
