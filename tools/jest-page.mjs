import { createHash } from 'node:crypto';
import { asPageModule } from './page.mjs';

const code = (path, { supportsStaticESM }) => asPageModule(path, supportsStaticESM ? 'esm' : 'cjs');

/** Jest's view of a page, as tools/build.mjs writes it into dist; cached by its text with its style and script. */
export default {
  process: (_source, path, options) => ({ code: code(path, options) }),
  getCacheKey: (_source, path, options) =>
    createHash('sha1').update(code(path, options)).digest('hex'),
};
