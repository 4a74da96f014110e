import { everywhere } from '../support/contract.js';
import { handOff, handOffOnRedis } from './hand-off.contract.js';

everywhere('P3 hand-off', handOff, handOffOnRedis);
