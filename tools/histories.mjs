// `npm run histories`: plays histories of processes that lock in all ways while something goes wrong, checks them, and writes
// docs/faults/results.md. Options: --size 1200 histories from seed --from 0 on, of --operations 900 at least; --minutes ends a start early, the next one goes on where
// it was (build/histories, one file for each state of lib, of the histories and of test/support); --again forgets what was played.
// They mostly wait: --at-once 4 are played beside each other.
// --only <part of a line of --list> plays those alone and writes no page; --seed 17 plays one and says what is wrong, and --shorten makes it shorter then.
// What it finds then is played by --seed 17 --callers 3 --strokes '["FLUSHALL"]'. --plant <name of test/histories/plants.ts> puts a mistake into the library.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compiled } from './compiled.mjs';
import { globSync } from './glob.mjs';

const state = createHash('sha1');
for (const folder of ['lib', 'test/histories', 'test/support']) {
  for (const file of globSync(join(compiled, folder), '.js')) state.update(readFileSync(file));
}
process.env['HISTORIES_OF'] = state.digest('hex').slice(0, 12);
await import(pathToFileURL(join(compiled, 'test/histories/main.js')).href);
