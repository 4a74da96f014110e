/** What came of nothing yet: counts, what is wrong beside failed tests, and how long each part took in ms. */
export function noOutcome() {
  return { counts: { passed: 0, failed: 0, skipped: 0 }, complaints: [], times: [] };
}

/** Adds what came of one run to `total`. */
export function addOutcome(total, { counts, complaints, times = [] }) {
  for (const name of Object.keys(total.counts)) total.counts[name] += counts[name];
  total.complaints.push(...complaints);
  total.times.push(...times);
}

/** Prints how long each part took, once more what failed beside tests, and as the last line what came of all. */
export function printOutcome({ counts: { passed, failed, skipped }, complaints, times }, ms) {
  const skips = skipped > 0 ? `, ${skipped} skipped` : '';
  const lines = [
    '',
    ...times.map(([name, each]) => `${seconds(each)}  ${name}`),
    `${seconds(ms)}  in all`,
    ...complaints.map((complaint) => `✗ ${complaint}`),
    `${passed} passed, ${failed} failed${skips}`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function seconds(ms) {
  return `${Math.round(ms / 1_000)} s`.padStart(7);
}
