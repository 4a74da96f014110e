// Node.js with an end: a file's AsyncLocalStorages end with the file. Node 20 tells each one of every promise, also of
// those made after it, for as long as the worker lives; the files that run last would be slowed down by all before them.
import { AsyncLocalStorage } from 'node:async_hooks';
import { TestEnvironment } from 'jest-environment-node';

const used = new Set();
const enable = AsyncLocalStorage.prototype._enable;
if (enable !== undefined) {
  // Later versions of Node.js have no such list, and no such method.
  AsyncLocalStorage.prototype._enable = function (...rest) {
    used.add(this);
    return enable.apply(this, rest);
  };
}

export default class extends TestEnvironment {
  async teardown() {
    for (const storage of used) storage.disable();
    used.clear();
    await super.teardown();
  }
}
