/** What came of nothing yet. */
export function noOutcome() {
  return { counts: { passed: 0, failed: 0, skipped: 0 }, complaints: [] };
}

/** Adds what came of one run to `total`. */
export function addOutcome(total, { counts, complaints }) {
  for (const name of Object.keys(total.counts)) total.counts[name] += counts[name];
  total.complaints.push(...complaints);
}

/** Prints how long it took, once more what failed beside tests, and as the last line what came of it. */
export function printOutcome({ counts: { passed, failed, skipped }, complaints }, ms) {
  const skips = skipped > 0 ? `, ${skipped} skipped` : '';
  const lines = [
    '',
    `${Math.round(ms / 1_000)} s`,
    ...complaints.map((complaint) => `✗ ${complaint}`),
    `${passed} passed, ${failed} failed${skips}`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
