import { everywhere } from '../support/contract.js';
import { maxWaiting, maxWaitingOfReaders } from './max-waiting.contract.js';

everywhere('maxWaiting', maxWaiting);
everywhere('maxWaiting of readers', maxWaitingOfReaders, {}, { of: ['lock'] });
