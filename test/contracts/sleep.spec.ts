import { everywhere } from '../support/contract.js';
import { sleep } from './sleep.contract.js';

everywhere('P7 sleep', sleep);
