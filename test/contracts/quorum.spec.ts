import { type Contract, everywhere } from '../support/contract.js';
import { quorums } from '../support/topologies.js';
import { expiry } from './expiry.contract.js';
import { extension } from './extension.contract.js';
import { loss } from './loss.contract.js';
import { mutualExclusion } from './mutual-exclusion.contract.js';
import { ownership } from './ownership.contract.js';
import { shutdown, shutdownOfLocks } from './shutdown.contract.js';
import { sleep } from './sleep.contract.js';

/** The promises that a quorum keeps. */
const kept: Readonly<Record<string, Contract>> = {
  'P1 exclusion': without(
    mutualExclusion,
    'of many who ask at one moment, one gets the lock',
    'no two leases overlap, and no update is lost, under contention',
    'no two leases overlap when holders crash',
  ),
  'leases end': expiry,
  'P8 nobody else’s': without(
    ownership,
    'a stranger who leaves changes nothing',
    'who lost the lock to an operator is told, and can do nothing with it',
  ),
  'leases are extended': without(
    extension,
    'a short first lease is lengthened to its ttl, also without renewal',
  ),
  'P7 loss': without(
    loss,
    'a lease that an operator took is lost at once, with that reason',
    'who loses a lock to an operator while its renewal is under way is told at once',
  ),
  'P7 sleep': sleep,
  'a shutdown': { ...shutdown, ...shutdownOfLocks },
};

for (const [promise, contract] of Object.entries(kept)) {
  everywhere(promise, contract, {}, { where: Object.keys(quorums), of: ['lock'] });
}

/** A contract without what it says of a queue, or of pushes: a quorum has neither. */
function without(contract: Contract, ...sentences: readonly string[]): Contract {
  for (const sentence of sentences) {
    if (!(sentence in contract)) throw new Error(`No contract says: ${sentence}.`);
  }
  return Object.fromEntries(
    Object.entries(contract).filter(([sentence]) => !sentences.includes(sentence)),
  );
}
