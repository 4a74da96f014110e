import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OptionDefaults } from 'typedoc';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const entries = Object.keys(manifest.exports).filter((name) => manifest.exports[name].import);

/** API pages out of the doc comments of lib, as Markdown for the site. They are made anew by each build and not committed. */
/** @type {Partial<import('typedoc').TypeDocOptions> & Partial<import('typedoc-plugin-markdown').PluginOptions>} */
export default {
  plugin: ['typedoc-plugin-markdown'],
  logLevel: 'Warn',
  name: 'API',
  tsconfig: '../tsconfig.build.json',
  entryPoints: entries.map((name) => join('../lib', name, 'index.ts')),
  out: 'api',
  entryFileName: 'index',
  router: 'member',
  readme: 'none',
  blockTags: [...OptionDefaults.blockTags, '@publicApi'],
  notRenderedTags: [...OptionDefaults.notRenderedTags, '@publicApi'],
  excludeInternal: true,
  excludePrivate: true,
  excludeProtected: true,
  excludeExternals: true,
  disableSources: true,
  hideBreadcrumbs: true,
  hidePageHeader: true,
  useCodeBlocks: true,
  indexFormat: 'table',
  parametersFormat: 'table',
  interfacePropertiesFormat: 'list',
  sanitizeComments: true,
};
