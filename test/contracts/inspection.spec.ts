import { everywhere } from '../support/contract.js';
import { quorums } from '../support/topologies.js';
import { inspecting, inspectingOnQuorum, inspectingOnRedis } from './inspection.contract.js';

everywhere('inspection', inspecting, inspectingOnRedis, { of: ['lock'] });
everywhere('inspection', inspectingOnQuorum, {}, { where: Object.keys(quorums), of: ['lock'] });
