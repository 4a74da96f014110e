// Writes the tables of options on the pages, each below its `<!-- options of … -->`, from the doc comments: npm run docs:tables
import { readFileSync, writeFileSync } from 'node:fs';
import ts from 'typescript';
import { globSync } from './glob.mjs';

const TABLE = /(?<=<!-- options of ([\w, ]+) -->\n\n)(?:\|.*\n)*/g;
/** The tag of words that link to another page: `@see outage in docs/operations.md#outage`. */
const SEE = /^(.+) in docs\/(\S+)$/;

let sources;

/** A page with the tables that belong to it now. */
export function withTables(page) {
  return page.replaceAll(TABLE, (_, names) => table(names.split(', ').flatMap(optionsOf)));
}

/** One row for each property of an interface of lib: the first paragraph of its comment, and its tags. */
function optionsOf(name) {
  sources ??= globSync('lib', '.ts').map((file) => [file, readFileSync(file, 'utf8')]);
  const found = sources.find(([, text]) => new RegExp(`\\binterface ${name}\\b`).test(text));
  if (!found) throw new Error(`There is no interface ${name} in lib.`);
  const tree = ts.createSourceFile(...found, ts.ScriptTarget.Latest, true);
  return tree.statements
    .find((one) => ts.isInterfaceDeclaration(one) && one.name.text === name)
    .members.map((member) => {
      const comment = ts.getTextOfJSDocComment(member.jsDoc?.at(-1)?.comment) ?? '';
      const tags = ts.getJSDocTags(member).map((tag) => [tag.tagName.text, textOf(tag)]);
      const { range = '', see, default: value } = Object.fromEntries(tags);
      return {
        option: code(member.name.text),
        default: value === undefined ? '–' : shown(value),
        range,
        meaning: linked(comment.split('\n\n')[0].replaceAll('\n', ' '), see),
      };
    });
}

/** As it is written: TypeScript takes the first word of a `@see` for a name. */
function textOf(tag) {
  return tag.getText().replaceAll(/^@\w+ |[\s*]+$/g, '');
}

/** A number as a reader knows it, another value as code, and words as they are. */
function shown(value) {
  if (/^\d+$/.test(value)) return Number(value).toLocaleString('en');
  return /[ `]/.test(value) ? value : code(value);
}

function linked(text, see) {
  if (see === undefined) return text;
  const [, words, page] = SEE.exec(see) ?? [];
  if (!text.includes(words))
    throw new Error(`"@see ${see}" is not "@see <words of it> in docs/…": ${text}`);
  return text.replace(words, `[${words}](${page})`);
}

/** Without a column in which every row is empty. */
function table(rows) {
  const heads = Object.keys(rows[0]).filter((head) => rows.some((row) => !/^–?$/.test(row[head])));
  const lines = [heads, ...rows.map((row) => heads.map((head) => cell(row[head])))];
  const [head, ...body] = lines.map((cells) =>
    `| ${cells.join(' | ')} |\n`.replaceAll('|  |', '| |'),
  );
  return [head, `${'|---'.repeat(heads.length)}|\n`, ...body].join('');
}

function cell(text) {
  return text.replaceAll('|', String.raw`\|`);
}

function code(text) {
  return `\`${text}\``;
}

if (process.argv[1] === import.meta.filename) {
  for (const file of ['README.md', ...globSync('docs', '.md')]) {
    const page = readFileSync(file, 'utf8');
    if (page.includes('<!-- options of ')) writeFileSync(file, withTables(page));
  }
}
