import { everywhere } from '../support/contract.js';
import { sleep, sleepAlone } from './sleep.contract.js';

everywhere('P7 sleep', sleep);
everywhere('P7 sleep, held alone', sleepAlone, {}, { of: ['lock'] });
