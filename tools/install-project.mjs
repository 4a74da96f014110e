import { statSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './test/run.mjs';

/** What `npm run` adds to the environment, and npm in another folder must not see. */
const OURS = /^(npm_(package|lifecycle|config_local_prefix|command)|INIT_CWD)/;

/** Installs what a project inside this one needs, unless that was done since its lock file changed. */
export async function installProject(folder) {
  if (
    changed(join(folder, 'node_modules/.package-lock.json')) >=
    changed(join(folder, 'package-lock.json'))
  )
    return;
  process.stderr.write(`Installing the packages of ${folder}, this once.\n`);
  const names = Object.keys(process.env).filter((name) => OURS.test(name));
  const env = Object.fromEntries(names.map((name) => [name, undefined]));
  const code = await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    env,
  });
  if (code !== 0) throw new Error(`npm ci in ${folder} ended with ${code}.`);
}

/** When a file changed last; 0 where there is none. */
function changed(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
