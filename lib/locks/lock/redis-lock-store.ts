import type { Clock, ModuleSettings } from '../../options/index.js';
import { type LockServer, lockServer, prefixOf } from '../../redis/index.js';
import { newProcessId } from '../holder.js';
import type {
  LockPrimitive,
  LockStore,
  PushListener,
  StoreDescription,
} from '../lock-primitive.js';
import { Dialects } from '../dialects/dialects.js';
import { redisPrimitive } from '../redis-primitive.js';
import { claimAt } from './place-text.js';
import { token } from './sight.js';

/** The lock on a Redis or a Cluster, with the inbox through which it pushes grants. */
export class RedisLockStore implements LockStore {
  readonly processId = newProcessId();
  readonly lock: LockPrimitive;
  readonly #server: LockServer;
  readonly #prefix: string;
  #listener: PushListener | undefined;

  constructor(settings: ModuleSettings, clock: Clock) {
    const prefix = (this.#prefix = prefixOf(settings.redis) + settings.keyPrefix);
    const inbox = `${prefix}inbox:`;
    this.#server = lockServer(
      settings.redis,
      settings.commandTimeout,
      clock,
      inbox,
      this.processId,
    );
    const { waitersPerKey } = settings.limits;
    const native = redisPrimitive(this.#server, prefix, waitersPerKey, (text) =>
      this.#message(text.split(' ')),
    );
    this.lock = new Dialects(native, this.#server, prefixOf(settings.redis), (lock) =>
      this.#listener?.kept(lock, 0),
    );
  }

  get ready(): boolean {
    return this.#server.ready;
  }

  open(listener: PushListener): Promise<void> {
    this.#listener = listener;
    return this.#server.open({
      message: (words) => this.#message(words),
      resubscribed: () => listener.reconnected(),
      reconnected: () => listener.reconnected(),
    });
  }

  pushMissed(): void {
    this.#server.replaceChannel();
  }

  describe(): StoreDescription {
    return this.#server.describe();
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  /** 'granted <place> <ms left> <server µs> <token> <tokens> <Redis key>', 'forced <holder>' or 'kept <ms left> <Redis key>'. */
  #message(words: readonly string[]): void {
    const listener = this.#listener!;
    const [word, who, left, at, fence, count, ...lock] = words;
    if (!who) return;
    if (word === 'forced') return listener.forced(who);
    if (word === 'kept') {
      return listener.kept(words.slice(2).join(' ').slice(this.#prefix.length), Number(who));
    }
    if (word !== 'granted') return;
    const redisKey = lock.join(' ');
    const claim = claimAt(who, redisKey.slice(this.#prefix.length));
    const now = this.#server.time.monotonic();
    const sentAt = this.#server.clockOf(redisKey)?.momentOf(Number(at) / 1_000, now);
    const grant = {
      sentAt,
      remaining: Number(left),
      fencingToken: token(fence),
      tokens: Number(count),
      signalled: claim?.condition !== undefined,
    };
    if (claim) listener.granted(claim, grant);
  }
}
