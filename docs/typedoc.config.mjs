import { join } from 'node:path';
import { OptionDefaults } from 'typedoc';
import { ENTRIES } from '../tools/package/entries.mjs';

/** API pages out of the doc comments of lib, as Markdown for the site. They are made anew by each build and not committed. */
export default {
  plugin: ['typedoc-plugin-markdown'],
  logLevel: 'Warn',
  name: 'API',
  tsconfig: '../tsconfig.build.json',
  entryPoints: Object.values(ENTRIES).map((path) => join('../lib', `${path}.ts`)),
  out: 'api',
  entryFileName: 'index',
  router: 'member',
  readme: 'none',
  blockTags: [...OptionDefaults.blockTags, '@publicApi', '@range'],
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
