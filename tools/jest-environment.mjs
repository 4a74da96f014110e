// Node.js with an end: what a file leaves in Node.js itself ends with the file.
// - Its AsyncLocalStorages. Node 20 tells each one of every promise, also of those made after it, for as long as the
//   worker lives; the files that run last would be slowed down by all before them.
// - Its listeners on the library's channels, as an application's that listens for as long as it runs.
import { AsyncLocalStorage } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
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

const listening = [];
const one = channel('tools/jest-environment');
one.subscribe(() => {});
const active = Object.getPrototypeOf(one); // of each channel that has a listener
const { subscribe } = active;
active.subscribe = function (listener) {
  if (String(this.name).includes('nest-redis-lock:')) listening.push([this, listener]);
  return subscribe.call(this, listener);
};

export default class extends TestEnvironment {
  async teardown() {
    for (const storage of used) storage.disable();
    used.clear();
    for (const [heard, listener] of listening.splice(0)) heard.unsubscribe(listener);
    await super.teardown();
  }
}
