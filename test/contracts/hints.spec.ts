import { everywhere } from '../support/contract.js';
import { hints, hintsOnRedis } from './hints.contract.js';

everywhere('P9 a message is a hint', hints, hintsOnRedis);
