import { contractsOn } from './contracts.js';

await contractsOn('memory');
