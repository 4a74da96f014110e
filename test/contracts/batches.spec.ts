import { everywhere } from '../support/contract.js';
import { sharingTopologies } from '../support/topologies.js';
import { batches } from './batches.contract.js';

everywhere('P2 batches of entries', batches, {}, { where: sharingTopologies, of: ['lock'] });
