import { everywhere } from '../support/contract.js';
import { quorums } from '../support/topologies.js';
import { events } from './events.contract.js';

everywhere('events', events);
everywhere('events', events, {}, { where: Object.keys(quorums), of: ['lock'] });
