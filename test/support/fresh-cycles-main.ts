// One new process: `fresh-cycles-main.js <whose> <url>` runs cycles of a free lock, 16 at a time, for the 250 ms that come
// after the first one, and prints what each took as a JSON object.
import { CYCLES } from './cycles.js';
import { monotonic } from './monotonic.js';
import { closeProfiler, openProfiler, profiled } from './profile.js';

const [whose, url] = process.argv.slice(2) as [keyof typeof CYCLES, string];

const cycles = await CYCLES[whose](url);
await cycles.run();
await openProfiler();
const spent = await profiled(async () => {
  const until = monotonic() + 250;
  let count = 0;
  const caller = async (): Promise<void> => {
    for (; monotonic() < until; count += 1) await cycles.run();
  };
  await Promise.all(Array.from({ length: 16 }, caller));
  return count;
});
closeProfiler();
await cycles.close();
process.stdout.write(JSON.stringify(spent));
