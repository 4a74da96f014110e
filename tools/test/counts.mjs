/** Adds `counts` to `total`. */
export function addCounts(total, counts) {
  for (const name of Object.keys(total)) total[name] += counts[name];
}

/** Prints how long it took, and as the last line what came of it. */
export function printCounts({ passed, failed, skipped }, ms) {
  process.stdout.write(`\n${Math.round(ms / 1_000)} s\n`);
  process.stdout.write(
    `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
  );
}
