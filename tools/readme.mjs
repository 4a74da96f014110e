// Fills every code block of the README that names its source, <!-- file#region -->, from there.
// `--check` only compares. The sources are type-checked and run by test/readme.
import { readFileSync, writeFileSync } from 'node:fs';

const BLOCK = /(<!-- (\S+)#(\w+) -->\n```ts\n)[^]*?(```)/g;

function region(file, name) {
  const lines = readFileSync(file, 'utf8').split('\n');
  const found = [];
  let inside = false;
  for (const line of lines) {
    if (line.trim() === `// #region ${name}`) inside = true;
    else if (line.trim() === '// #endregion') inside = false;
    else if (inside) found.push(line);
  }
  if (found.length === 0) throw new Error(`${file} has no region "${name}".`);
  const indent = Math.min(...found.filter(Boolean).map((line) => line.search(/\S/)));
  return found.map((line) => line.slice(indent) + '\n').join('');
}

const before = readFileSync('README.md', 'utf8');
const after = before.replaceAll(
  BLOCK,
  (_, head, file, name, tail) => head + region(file, name) + tail,
);
if (!process.argv.includes('--check')) writeFileSync('README.md', after);
else if (before !== after) {
  console.error('README.md is not what its sources say: npm run readme');
  process.exit(1);
}
