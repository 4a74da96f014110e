// Builds or serves the site in docs/, with API pages made of the doc comments: node tools/docs.mjs build|dev
import { installProject } from './install-project.mjs';
import { run } from './test/run.mjs';

const [command = 'build', ...args] = process.argv.slice(2);
const steps = [
  ['typedoc', '--options', 'docs/typedoc.config.mjs'],
  ['vitepress', command, 'docs', ...args],
];
await installProject('docs');
for (const [name, ...words] of steps) {
  const code = await run(process.execPath, [`docs/node_modules/${bin(name)}`, ...words]);
  if (code !== 0) {
    console.error(`${name} ended with ${code}`);
    process.exit(1);
  }
}

function bin(name) {
  return { typedoc: 'typedoc/bin/typedoc', vitepress: 'vitepress/bin/vitepress.js' }[name];
}
