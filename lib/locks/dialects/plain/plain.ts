import type { Dialect } from '../dialect-format.js';
import { scripts } from './scripts.js';

/** A string of the holder's own, with a time to live: what most libraries write. */
export const plain: Dialect = { type: 'string', ...scripts };
