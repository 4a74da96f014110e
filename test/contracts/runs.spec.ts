import { everywhere } from '../support/contract.js';
import { sharingTopologies } from '../support/topologies.js';
import { runs } from './runs.contract.js';

everywhere('P2 runs of places', runs, {}, { where: sharingTopologies, of: ['lock'] });
