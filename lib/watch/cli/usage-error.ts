/** The command line is not one that this program understands; the message says what to write instead. */
export class UsageError extends Error {}
