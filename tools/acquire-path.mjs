// Prints the frames of lib from a real run: from @Locked, acquire() and release() to the socket, and from a
// push of Redis to the caller that it grants the lock. `--json` prints them for a program.
import { printedBy } from './compiled.mjs';

const json = printedBy('test/support/acquire-path-main.js');
if (process.argv.includes('--json')) process.stdout.write(json);
else {
  const { ways, promises } = JSON.parse(json);
  for (const [way, frames] of Object.entries(ways)) {
    process.stdout.write(`${way}: ${frames.length} frames\n`);
    for (const frame of frames) {
      const [name, file] = frame.split(' ');
      process.stdout.write(`  ${(name || 'a function').padEnd(36)} ${file.replace(/js$/, 'ts')}\n`);
    }
  }
  for (const [way, count] of Object.entries(promises)) {
    process.stdout.write(`${way}: ${count} promises a call\n`);
  }
}
