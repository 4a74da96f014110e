import { type Clock, type ModuleSettings, momentOf } from '../options/index.js';
import type { Grant, LockStore, PushListener, StoreDescription } from '../locks/lock-store.js';
import { newProcessId } from '../locks/holder.js';
import { lockId } from '../locks/lock-request.js';
import type { NameSearch } from '../locks/lock-names.js';
import { requestAt } from '../locks/entry.js';
import { MemoryConnection } from './memory-connection.js';
import { MemoryLock } from './memory-lock.js';
import type { MemoryServer } from './memory-server.js';

/** The lock in memory, as one process sees it. Stores on one server compete as processes on one Redis do. */
export class MemoryLockStore extends MemoryLock implements LockStore {
  constructor(
    private readonly server: MemoryServer,
    settings: Pick<ModuleSettings, 'keyPrefix' | 'commandTimeout' | 'limits'>,
    private readonly clock: Clock = server.clock,
  ) {
    const { keyPrefix, commandTimeout, limits } = settings;
    const connection = new MemoryConnection(server, commandTimeout, clock);
    super(connection, keyPrefix, newProcessId(), limits.waitersPerKey);
  }

  get ready(): boolean {
    return this.connection.open;
  }

  async open(listener: PushListener): Promise<void> {
    this.connection.open = true;
    this.server.subscribe(this.processId, {
      granted: ({ name, place, remaining, fencingToken, tokens, batch }) => {
        const request = requestAt(place, name.slice(this.prefix.length))!;
        const signalled = request.condition !== undefined;
        const grant: Grant = {
          kind: 'held',
          sent: momentOf(this.clock),
          remaining,
          fencingToken,
          tokens,
          signalled,
          batch,
        };
        queueMicrotask(() => listener.granted(request, grant));
      },
      forced: (holder) => queueMicrotask(() => listener.forced(holder)),
      kept: (name, rest) =>
        queueMicrotask(() => listener.kept(name.slice(this.prefix.length), rest)),
      resumed: () => queueMicrotask(() => listener.reconnected()),
    });
  }

  async names({ pattern, most, mayBe, dialect }: NameSearch): Promise<string[]> {
    const parts = pattern.split('*').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
    const matches = new RegExp(`^${parts.join('.*')}$`, 's');
    const [before, after] = lockId({ key: '\0', dialect }).split('\0') as [string, string];
    const start = this.prefix + before;
    return this.server.values
      .keys()
      .filter((key) => key.startsWith(start) && key.endsWith(after))
      .filter((key) => this.server.values.get(key)?.type === 'string')
      .map((key) => key.slice(start.length, key.length - after.length))
      .filter((name) => matches.test(name) && mayBe(name))
      .slice(0, most);
  }

  pushMissed(): void {
    // memory loses no push
  }

  describe(): StoreDescription {
    return { found: 'A lock store in memory, for tests', warnings: [] };
  }

  async close(): Promise<void> {
    this.connection.open = false;
    this.server.unsubscribe(this.processId);
  }
}
