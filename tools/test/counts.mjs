/**
 * What came of nothing yet: counts, what is wrong, the names of skipped tests, and how long each
 * part took in ms.
 */
export function noOutcome() {
  return { counts: { passed: 0, failed: 0, skipped: 0 }, complaints: [], skips: [], times: [] };
}

/** Adds what came of one run to `total`. */
export function addOutcome(total, { counts, complaints, skips = [], times = [] }) {
  for (const name of Object.keys(total.counts)) total.counts[name] += counts[name];
  total.complaints.push(...complaints);
  total.skips.push(...skips);
  total.times.push(...times);
}

/**
 * Prints how long each part took, what was skipped, once more what is wrong, and as the last line what came of all.
 */
export function printOutcome(
  { counts: { passed, failed, skipped }, complaints, skips, times },
  ms,
) {
  const count = skipped > 0 ? `, ${skipped} skipped` : '';
  const lines = [
    '',
    ...times.map(([name, each]) => `${seconds(each)}  ${name}`),
    `${seconds(ms)}  in all`,
    ...skips.map((skip) => `– skipped: ${skip}`),
    ...complaints.map((complaint) => `✗ ${complaint}`),
    `${passed} passed, ${failed} failed${count}`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function seconds(ms) {
  return `${Math.round(ms / 1_000)} s`.padStart(7);
}
