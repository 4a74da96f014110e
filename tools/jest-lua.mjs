import { createHash } from 'node:crypto';
import { asModule } from './lua.mjs';

const code = (source, { supportsStaticESM }) => asModule(source, supportsStaticESM ? 'esm' : 'cjs');

/** Jest's view of a Lua script, as tools/build.mjs writes it into dist, but with its comments; cached by the text with its includes. */
export default {
  process: (source, _path, options) => ({ code: code(source, options) }),
  getCacheKey: (source, _path, options) =>
    createHash('sha1').update(code(source, options)).digest('hex'),
};
