import { everywhere } from '../support/contract.js';
import { handOff, handOffOnRedis } from './hand-off.contract.js';

everywhere('P3 hand-off', handOff, handOffOnRedis, {
  notInCluster: [
    'a waiter that cannot hear is passed over and keeps its entry',
    'a lock that nobody hears of is free, and the first who asks has it',
  ],
});
