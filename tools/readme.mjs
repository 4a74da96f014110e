// Fills every code block of the README and of docs/ that names its source, <!-- file#region -->, from there.
// `--check` only compares. The sources are type-checked and run by test/readme.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const pages = readdirSync('docs')
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);
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

for (const page of ['README.md', ...pages]) {
  const before = readFileSync(page, 'utf8');
  const after = before.replaceAll(
    BLOCK,
    (_, head, file, name, tail) => head + region(file, name) + tail,
  );
  if (!process.argv.includes('--check')) writeFileSync(page, after);
  else if (before !== after) {
    console.error(`${page} is not what its sources say: npm run readme`);
    process.exit(1);
  }
}
