import { everywhere } from '../support/contract.js';
import { shutdown, shutdownOfHandOvers, shutdownOfLocks } from './shutdown.contract.js';

/** In the others a shutdown meets nothing that it does not meet in these. */
const where = [
  'one Redis',
  'one Redis, replicated and confirmed',
  'a primary behind Sentinels',
  'a cluster',
  'memory',
];

everywhere('a shutdown', shutdown, {}, { where: [...where, 'memory, strictly fair'] });
everywhere(
  'a shutdown',
  { ...shutdownOfLocks, ...shutdownOfHandOvers },
  {},
  { where, of: ['lock'] },
);
