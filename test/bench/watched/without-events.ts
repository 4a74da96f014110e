import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

const FOLDER = 'build/without-events';
const FILE = `${FOLDER}/dist/esm/shared.js`;
/** Where the library asks whether anybody listens. */
const ASKS = /\b(hears(?:Call|Hold)\([^)]*\) \{)/g;

/** A copy of the build that does not ask whether anybody listens, and tells nobody: it shows what events cost while nobody listens. Returns its folder. */
export function buildWithoutEvents(): string {
  rmSync(FOLDER, { recursive: true, force: true });
  cpSync('dist/esm', `${FOLDER}/dist/esm`, { recursive: true });
  writeFileSync(`${FOLDER}/package.json`, '{ "type": "module" }\n');
  const code = readFileSync(FILE, 'utf8');
  if (code.match(ASKS)?.length !== 2) throw new Error(`Where does ${FILE} ask who listens?`);
  writeFileSync(FILE, code.replace(ASKS, '$1 return false;'));
  return FOLDER;
}
