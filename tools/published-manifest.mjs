// npm packs the package.json that this leaves: without what only the repository needs. `--restore` puts the whole back
// afterwards; where npm was ended in between, `git checkout package.json` does.
import { copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

const MANIFEST = 'package.json';
const WHOLE = 'build/package.json';

if (process.argv.includes('--restore')) renameSync(WHOLE, MANIFEST);
else {
  copyFileSync(MANIFEST, WHOLE);
  const manifest = JSON.parse(readFileSync(MANIFEST, 'utf8'));
  for (const own of ['workspaces', 'scripts', 'devDependencies', 'overrides']) delete manifest[own];
  writeFileSync(MANIFEST, `${JSON.stringify(manifest, undefined, 2)}\n`);
}
