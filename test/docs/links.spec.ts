import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';

const tools = '../../docs/.vitepress/';
const { slugify } = (await import(`${tools}slug.mjs`)) as { slugify: (heading: string) => string };
const { PAGES } = (await import(`${tools}pages.mjs`)) as {
  PAGES: [group: string, pages: [title: string, page: string][]][];
};

/** What `npm run docs` makes of the doc comments. */
const GENERATED = 'docs/api/';

const sources = [
  'README.md',
  'SECURITY.md',
  ...['docs', 'docs/bench', 'docs/decisions', 'docs/faults', 'docs/model'].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
];

const listed = PAGES.flatMap(([, pages]) => pages.map(([, page]) => `docs/${page}`));

/** Where a decision links to its test; the site shows these as text. */
const TO_TEST = /^\.\.\/\.\.\/test\//;

describe('the documentation', () => {
  it('links to what is there, down to the heading', () => {
    const links = sources.flatMap(linksOf);
    expect(links.length).toBeGreaterThan(50);
    const dead = links
      .map((link) => ({ ...link, fault: fault(link) }))
      .filter((link) => link.fault);
    expect(dead).toEqual([]);
  });

  it('leads out of the site nowhere, which has the pages of docs/ alone', () => {
    const out = sources
      .filter((page) => page !== 'README.md')
      .flatMap(linksOf)
      .filter(({ to }) => !/^\w+:/.test(to) && !TO_TEST.test(to))
      .filter(({ page, to }) => !fileOf(page, to).startsWith('docs/'));
    expect(out).toEqual([]);
  });

  it('has each page in the sidebar', () => {
    const pages = sources.filter((page) => /^docs\/[^/]+$/.test(page) && page !== 'docs/index.md');
    expect(pages.filter((page) => !listed.includes(page.slice(0, -3)))).toEqual([]);
  });
});

interface Link {
  readonly page: string;
  readonly to: string;
}

function textOf(page: string): string {
  return readFileSync(page, 'utf8').replaceAll(/^```[^]*?^```$/gm, '');
}

/** Links of Markdown, pictures among them, and those of the front page's settings. */
function linksOf(page: string): Link[] {
  const text = textOf(page);
  const found = [
    ...text.replaceAll(/`[^`\n]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g),
    ...text.matchAll(/\b(?:link|src): (\/[^\s,}]+)/g),
  ];
  return found.map(([, to]) => ({ page, to: to! }));
}

/** The anchors of a page; the second of two equal headings has a number, as on GitHub and on the site. */
function anchorsOf(page: string): string[] {
  const seen = new Map<string, number>();
  const headings = [...textOf(page).matchAll(/^#{1,6} (.+)$/gm)];
  return headings.map(([, heading]) => {
    const slug = slugify(heading!.replaceAll(/`|\*\*|\]\([^)]*\)|\[/g, ''));
    const nth = seen.get(slug) ?? 0;
    seen.set(slug, nth + 1);
    return nth === 0 ? slug : `${slug}-${nth}`;
  });
}

/** What is wrong with a link inside the repository; undefined if nothing is. */
function fault({ page, to }: Link): string | undefined {
  if (/^\w+:/.test(to)) return undefined;
  const [path, anchor] = to.split('#') as [string, string?];
  const target = fileOf(page, path);
  if (target.startsWith(GENERATED)) return undefined;
  if (!existsSync(target)) return `${target} is missing`;
  if (anchor === undefined) return undefined;
  return anchorsOf(target).includes(decodeURIComponent(anchor)) ? undefined : `no #${anchor}`;
}

function fileOf(page: string, path: string): string {
  if (path === '') return page;
  if (!path.startsWith('/')) return normalize(join(page, '..', path));
  const file = join('docs', path);
  if (existsSync(join('docs/public', path))) return join('docs/public', path);
  return /\.\w+$/.test(file) || file.endsWith('/') ? file : `${file}.md`;
}
