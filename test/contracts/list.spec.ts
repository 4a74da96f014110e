import { everywhere } from '../support/contract.js';
import { quorums } from '../support/topologies.js';
import { list } from './list.contract.js';

everywhere('the list of locks', list, {}, { of: ['lock'] });

const {
  'all locks that are not free are found once, whatever they are held as, and no other key': _,
  ...alone
} = list;

everywhere('the list of locks', alone, {}, { of: ['lock'], where: Object.keys(quorums) });
