import { everywhere } from '../support/contract.js';
import { sharingTopologies } from '../support/topologies.js';
import { localHandOff } from './local-hand-off.contract.js';

everywhere('P2 local hand-off', localHandOff, {}, { where: sharingTopologies, of: ['lock'] });
