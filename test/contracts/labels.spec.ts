import { everywhere } from '../support/contract.js';
import { labels, labelsOfAlone } from './labels.contract.js';

everywhere('labels', labels);
everywhere('labels', labelsOfAlone, {}, { of: ['lock'] });
