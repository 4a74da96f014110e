import { readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { transformSync } from 'esbuild';

const STYLE = /<link rel="stylesheet" href="([\w.]+)" \/>/;
const SCRIPT = /<script type="module" src="([\w.]+)"><\/script>/;

/**
 * An HTML file in five parts, with its style sheet and its script in it, as the second and the fourth; without comments and
 * indentation.
 */
export function partsOf(file) {
  const html = readFileSync(file, 'utf8').replaceAll(/^ +/gm, '');
  const [style, script] = [STYLE, SCRIPT].map((link) => link.exec(html));
  const read = ([, name]) => short(readFileSync(join(dirname(file), name), 'utf8'), extname(name));
  const parts = [
    `${html.slice(0, style.index)}<style>`,
    read(style),
    `</style>${html.slice(style.index + style[0].length, script.index)}<script type="module">`,
    read(script),
    `</script>${html.slice(script.index + script[0].length)}`,
  ];
  if (/<\/(style|script)/i.test(parts[1] + parts[3])) throw new Error(`${file} ends too early.`);
  return parts;
}

/** What `import parts from './x.html.js'` finds. */
export function asPageModule(file, format) {
  const parts = JSON.stringify(partsOf(file));
  return format === 'cjs'
    ? `"use strict";\nObject.defineProperty(exports, "__esModule", { value: true });\nexports.default = ${parts};\n`
    : `export default ${parts};\n`;
}

function short(code, ending) {
  const options = { minifyWhitespace: true, charset: 'utf8', legalComments: 'none' };
  return transformSync(code, { ...options, loader: ending.slice(1) }).code;
}
