/** The error of an invalid command line; its message says what to write instead. */
export class UsageError extends Error {}
