import { everywhere } from '../support/contract.js';
import { cancellation, cancellationOnRedis } from './cancellation.contract.js';

everywhere('P5 no leak, no zombie', cancellation, cancellationOnRedis);
