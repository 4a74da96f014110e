// Prints where a hand-off between two processes spends its time: in who gives back, in Redis and on the way, in who is granted.
// Nothing else should run meanwhile. Takes 40 seconds.
import { printedBy } from './compiled.mjs';

console.table(JSON.parse(printedBy('test/support/hand-off-path-main.js')));
