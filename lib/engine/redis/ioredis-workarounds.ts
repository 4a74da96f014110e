import { type Redis, type RedisOptions, SentinelConnector } from 'ioredis';
import type { Duplex } from 'node:stream';
import type { Clock } from '../options/index.js';
import { deadline } from './deadline.js';

/** Delay in ms before connection attempt n. */
export function pauseBefore(attempt: number): number {
  return Math.min(25 * 2 ** Math.min(attempt, 5), 500) + Math.random() * 50;
}

/**
 * A connection of ours is watched over: it tries anew when nothing answers or a demoted primary does, and its errors go
 * to the commands on it.
 */
export function watched(client: Redis, timeout: number, clock: Clock): Redis {
  client.on('error', () => {}); // each failed command says it, and so does start-up
  boundHandshake(client, timeout, clock);
  replaceReadOnly(client);
  return catchSocketErrors(client);
}

/**
 * Tries anew when a connection is not ready `timeout` ms after it was made. ioredis bounds connecting,
 * but waits for ever for the answers to its first commands.
 */
function boundHandshake(client: Redis, timeout: number, clock: Clock): void {
  let cancel = (): void => {};
  client.on('connect', () => {
    cancel = deadline(clock, timeout, () => client.disconnect(true));
  });
  client.on('ready', () => cancel());
  client.on('close', () => cancel());
}

/** A demoted primary answers each write with READONLY: the first of these answers replaces the connection, no other. */
function replaceReadOnly(client: Redis): void {
  let replaced: unknown;
  client.options.reconnectOnError = ({ message }) => {
    const { stream } = client;
    if (stream === replaced || !/\bREADONLY\b/.test(message)) return false;
    replaced = stream;
    return true;
  };
}

/** Not documented; what ioredis makes a client's sockets with. */
interface WithConnector {
  readonly connector?: { connect(onError: unknown): Promise<Duplex> };
}

/**
 * ioredis listens to the first error of a socket alone. One whose TLS handshake is given up has a second one, and that
 * would end the process.
 */
function catchSocketErrors(client: Redis): Redis {
  const { connector } = client as unknown as WithConnector;
  if (!connector) return client;
  const connect = connector.connect.bind(connector);
  connector.connect = async (onError) => (await connect(onError)).on('error', () => {});
  return client;
}

type Connector = new (options: RedisOptions) => {
  readonly options: RedisOptions;
  connectToSentinel(endpoint: unknown, options?: RedisOptions): Redis;
};

/**
 * How ioredis finds a primary by its Sentinels, but that nothing is left unheeded on the connections on which it learns of
 * a failover: it would write to the console that a Sentinel is down, and the process would end when a connection does on
 * which it subscribes again. It would also take the failover of any primary that these Sentinels watch for one of ours.
 */
export class QuietSentinels extends (SentinelConnector as unknown as Connector) {
  /** Not documented; called by ioredis. */
  override connectToSentinel(endpoint: unknown, options: RedisOptions = {}): Redis {
    const ours = { ...options, disconnectTimeout: 100 }; // else a closed connection is held on to for 2 s
    const sentinel = super.connectToSentinel(endpoint, ours).on('error', () => {});
    const subscribe = sentinel.subscribe.bind(sentinel) as (...all: unknown[]) => Promise<unknown>;
    sentinel.subscribe = (...all: unknown[]) => {
      const subscribed = subscribe(...all);
      subscribed.catch(() => {});
      return subscribed;
    };
    const emit = sentinel.emit.bind(sentinel);
    sentinel.emit = (event, ...all: unknown[]) => {
      const isOthers = event === 'message' && String(all[1]).split(' ')[0] !== this.options.name;
      return !isOthers && emit(event, ...all);
    };
    return catchSocketErrors(sentinel);
  }
}

/**
 * Connects one of our clients again when ioredis has ended it for good. ioredis does so when it is told to disconnect
 * while it looks for the server, as by a Sentinel's `+switch-master`, and when connecting throws. Then ioredis 5 may
 * even call a client ready that has no connection.
 */
export class Reconnector {
  #attempts = 0;
  #closed = false;
  #cancel: (() => void) | undefined;

  constructor(
    private readonly client: Redis,
    private readonly clock: Clock,
  ) {
    client.on('end', () => this.#later());
    client.on('ready', () => {
      if (hasConnection(client)) this.#attempts = 0;
    });
  }

  /** Disconnects; from now on the end is our own. */
  close(): void {
    this.#closed = true;
    this.#cancel?.();
    this.client.disconnect();
  }

  #later(): void {
    if (this.#closed || this.#cancel) return;
    this.#attempts += 1;
    this.#cancel = this.clock.after(pauseBefore(this.#attempts), () => {
      this.#cancel = undefined;
      const { client } = this;
      if (client.status === 'ready' && !hasConnection(client)) client.status = 'end';
      if (client.status === 'end') client.connect().catch(() => {}); // its end brings us back
    });
  }
}

/** What ioredis 5 calls ready may be closed. */
function hasConnection({ stream }: Redis): boolean {
  return stream?.destroyed === false;
}

/**
 * Does `work` on each connection that the client makes from now on, and tells how that ended; nothing of one that was
 * replaced meanwhile: what failed there says nothing of the connection that took its place. One on which it failed is
 * replaced: at once, and later where it is not the first in a row. Returns how to stop.
 */
export function onEachConnection(
  { client, clock }: { readonly client: Redis; readonly clock: Clock },
  work: () => Promise<unknown>,
  succeeded: () => void,
  failed: (error: unknown) => void = () => {},
): () => void {
  let latest = 0;
  let failures = 0;
  const ready = (): void => {
    latest += 1;
    const nth = latest;
    const replace = (): void => {
      if (nth === latest && client.status === 'ready') client.disconnect(true);
    };
    work().then(
      () => {
        if (nth !== latest) return;
        failures = 0;
        succeeded();
      },
      (error: unknown) => {
        if (nth !== latest) return;
        failures += 1;
        failed(error);
        if (failures === 1) replace();
        else clock.after(pauseBefore(failures), replace);
      },
    );
  };
  client.on('ready', ready);
  return () => {
    latest = NaN; // none of them counts any more
    client.off('ready', ready);
  };
}
