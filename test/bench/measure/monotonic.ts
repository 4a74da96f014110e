/** CLOCK_MONOTONIC in ms: one clock for all processes of this machine. */
export function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
