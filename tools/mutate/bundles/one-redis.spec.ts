import { contractsOn } from './contracts.js';

await contractsOn('one Redis');
