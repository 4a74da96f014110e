import { existsSync, readdirSync } from 'node:fs';

const KINDS = [
  ['Classes', 'classes'],
  ['Functions', 'functions'],
  ['Interfaces', 'interfaces'],
  ['Types', 'type-aliases'],
  ['Constants', 'variables'],
];

/** The sidebar of the API: what each entry point of the package exports, by kind, out of the pages that TypeDoc made. */
export function apiSidebar(pages) {
  return [
    ...entryPoint('nest-redis-lock', pages, 'nest-redis-lock'),
    ...entryPoint('nest-redis-lock/testing', pages, 'nest-redis-lock/testing'),
  ];
}

function entryPoint(title, pages, path) {
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
  return [{ text: title, link: `/api/${path}/`, items: kinds }];
}
