// Runs the demo and draws what it prints: docs/demo.svg. `node tools/demo-picture.mjs [output]` draws a former output.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const LINE = 20;
const CHARACTER = 8.43;
const MARGIN = 24;
const BAR = 36;

/** What a line is, by what stands in it, and its colour. */
const COLOURS = [
  [/^(lost updates|wrong accounts) /, '#ffb86b'],
  [/^Lost updates:/, '#7ee787'],
  [/^Now kill -9/, '#ff7b72'],
  [/^Its account was served/, '#7ee787'],
  [/^ +one account/, '#9da7b3'],
  [/^ +without it/, '#9da7b3'],
];

function demo() {
  const { stdout, status } = spawnSync('npm', ['run', '--silent', 'demo'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The demo ended with ${status}.`);
  return stdout;
}

function picture(output) {
  const lines = ['$ npm run demo', '', ...output.trimEnd().split('\n')];
  const width = Math.ceil(Math.max(...lines.map(({ length }) => length)) * CHARACTER) + 2 * MARGIN;
  const height = BAR + lines.length * LINE + MARGIN;
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (colour, nth) => `<circle cx="${MARGIN + nth * 20}" cy="20" r="6" fill="${colour}"/>`,
  );
  const texts = lines.map((line, nth) => {
    const colour = COLOURS.find(([text]) => text.test(line))?.[1] ?? '#e6edf3';
    const y = BAR + (nth + 0.8) * LINE;
    return `<text x="${MARGIN}" y="${y}" fill="${colour}" xml:space="preserve" textLength="${(line.length * CHARACTER).toFixed(1)}">${escaped(line)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="What npm run demo prints" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">
<rect width="${width}" height="${height}" rx="10" fill="#161b22"/>
${[...dots, ...texts.filter((text) => !text.includes('></text>'))].join('\n')}
</svg>
`;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

const [former] = process.argv.slice(2);
writeFileSync('docs/demo.svg', picture(former ? readFileSync(former, 'utf8') : demo()));
