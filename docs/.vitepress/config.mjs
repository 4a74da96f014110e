import { copyFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { apiSidebar } from './api-pages.mjs';
import { decisionSidebar, testsAsText } from './decisions.mjs';
import { PAGES } from './pages.mjs';
import { slugify } from './slug.mjs';

const sidebar = PAGES.map(([text, pages]) => ({
  text,
  items: pages.map(([title, page]) => ({ text: title, link: `/${page}` })),
}));

function file(path) {
  return new URL(`../${path}`, import.meta.url);
}

/** Where the site stands on its server. */
const base = process.env['DOCS_BASE'] ?? '/';

export default defineConfig({
  title: 'nest-redis-lock',
  description: 'Distributed locks for NestJS on Redis',
  lang: 'en',
  base,
  outDir: '../build/docs',
  cacheDir: '../.cache/docs',
  srcExclude: ['**/node_modules/**'],
  rewrites: {
    'decisions/README.md': 'decisions/index.md',
    'model/README.md': 'model/index.md',
  },
  buildEnd: ({ outDir }) =>
    copyFileSync(file('bench/results.json'), `${outDir}/bench/results.json`),
  lastUpdated: false,
  metaChunk: true,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}mark.svg` }]],
  markdown: {
    config: testsAsText,
    anchor: { slugify },
    toc: { slugify },
    theme: { light: 'github-light', dark: 'github-dark' },
  },
  themeConfig: {
    logo: '/mark.svg',
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'Recipes', link: '/recipes' },
      { text: 'Operations', link: '/operations' },
      { text: 'Troubleshooting', link: '/troubleshooting' },
      { text: 'API', link: '/api/' },
    ],
    sidebar: {
      '/': sidebar,
      '/decisions/': [
        { text: 'All pages', link: '/' },
        ...decisionSidebar(file('decisions/README.md')),
      ],
      '/api/': [{ text: 'All pages', link: '/' }, ...apiSidebar(fileURLToPath(file('api')))],
    },
    outline: [2, 3],
    search: { provider: 'local' },
    externalLinkIcon: false,
    docFooter: { prev: 'Before', next: 'Next' },
    footer: { message: 'MIT licence' },
  },
});
