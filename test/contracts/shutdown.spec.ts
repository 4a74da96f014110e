import { everywhere } from '../support/contract.js';
import { shutdown, shutdownOfLocks } from './shutdown.contract.js';

const where = ['one Redis', 'memory'];

everywhere('a shutdown', shutdown, {}, { where: [...where, 'memory, strictly fair'] });
everywhere('a shutdown', shutdownOfLocks, {}, { where, of: ['lock'] });
