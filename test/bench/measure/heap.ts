/** Bytes of this process' heap in use, after a full collection. */
export function heapInUse(): number {
  gc!();
  return process.memoryUsage().heapUsed;
}
