import { type Clock, systemClock } from '../../lib/options/index.js';

/** The shortest pause of who is told when a lock is free, in ms. */
const TOLD = 300;

/** The system's clock, on which the pauses of who is told when a lock is free never end: without a message he waits for ever. */
export const patientClock: Clock = {
  ...systemClock,
  after: (ms, task) => (ms > TOLD ? () => {} : systemClock.after(ms, task)),
};
