import { existsSync, readdirSync, readFileSync } from 'node:fs';

const { exports } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);
const ENTRIES = Object.keys(exports).filter((name) => exports[name].import);

const KINDS = [
  ['Classes', 'classes'],
  ['Functions', 'functions'],
  ['Interfaces', 'interfaces'],
  ['Types', 'type-aliases'],
  ['Constants', 'variables'],
];

/** The sidebar of the API: what each entry point of the package exports, by kind, out of the pages that TypeDoc made. */
export function apiSidebar(pages) {
  return ENTRIES.flatMap((name) => entryPoint(`nest-redis-lock${name.slice(1)}`, pages));
}

function entryPoint(path, pages) {
  const kinds = KINDS.map(([text, kind]) => ({ text, kind, folder: `${pages}/${path}/${kind}` }))
    .filter(({ folder }) => existsSync(folder))
    .map(({ text, kind, folder }) => ({
      text,
      collapsed: kind !== 'classes',
      items: readdirSync(folder)
        .map((name) => name.replace('.md', ''))
        .sort()
        .map((name) => ({ text: name, link: `/api/${path}/${kind}/${name}` })),
    }));
  return [{ text: path, link: `/api/${path}/`, items: kinds }];
}
