import { type Redis, type RedisOptions, SentinelConnector } from 'ioredis';
import type { Duplex } from 'node:stream';
import type { Clock } from '../options/index.js';
import { deadline } from './deadline.js';

/** The delay before a connection attempt, in ms: exponential back-off with jitter. */
export function pauseBefore(attempt: number): number {
  return Math.min(25 * 2 ** Math.min(attempt, 5), 500) + Math.random() * 50;
}

/**
 * Makes one of the library's clients reconnect when nothing answers or a demoted primary does. Its errors go to the
 * commands, not to the process.
 */
export function watched(client: Redis, timeout: number, clock: Clock): Redis {
  client.on('error', () => {}); // each failed command reports the error, and so does start-up
  boundHandshake(client, timeout, clock);
  replaceReadOnly(client);
  return catchSocketErrors(client);
}

/**
 * Reconnects when a connection is not ready `timeout` ms after it was made. ioredis bounds connecting, but waits for ever
 * for the answers to its first commands.
 */
function boundHandshake(client: Redis, timeout: number, clock: Clock): void {
  let cancel = (): void => {};
  client.on('connect', () => {
    cancel = deadline(clock, timeout, () => client.disconnect(true));
  });
  client.on('ready', () => cancel());
  client.on('close', () => cancel());
}

/** A demoted primary answers each write with READONLY: only the first of these answers replaces the connection. */
function replaceReadOnly(client: Redis): void {
  let replaced: unknown;
  client.options.reconnectOnError = ({ message }) => {
    const { stream } = client;
    if (stream === replaced || !/\bREADONLY\b/.test(message)) return false;
    replaced = stream;
    return true;
  };
}

/** The undocumented part of ioredis that makes a client's sockets. */
interface WithConnector {
  readonly connector?: { connect(onError: unknown): Promise<Duplex> };
}

/**
 * ioredis listens only to the first error of a socket. A socket whose TLS handshake is given up has a second error, which
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
  /** False from `disconnect` on. */
  connecting: boolean;
  disconnect(): void;
  initFailoverDetector(): Promise<void>;
  connectToSentinel(endpoint: unknown, options?: RedisOptions): Redis;
};

/**
 * Finds a primary by its Sentinels as ioredis does, but handles all errors of the connections that tell of failovers.
 * ioredis would write to the console that a Sentinel is down, and a failed resubscription would end the process. It would
 * also react to failovers of other primaries that these Sentinels watch, and listen on for a connection that was closed while
 * its socket was made.
 */
export class QuietSentinels extends (SentinelConnector as unknown as Connector) {
  /** Called by ioredis when a socket to the primary is made. */
  override async initFailoverDetector(): Promise<void> {
    if (this.connecting) await super.initFailoverDetector();
  }

  /** Called by ioredis to connect to a Sentinel; undocumented. */
  override connectToSentinel(endpoint: unknown, options: RedisOptions = {}): Redis {
    const ours = { ...options, disconnectTimeout: 100 }; // by default ioredis holds on to a closed connection for 2 s
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
 * Reconnects a client that ioredis has ended for good. ioredis does that when it is told to disconnect while it looks for
 * the server, as by a Sentinel's `+switch-master`, and when connecting throws. ioredis 5 may even call a client ready then
 * that has no connection. Returns a function that disconnects the client for good.
 */
export function reconnectEnded(client: Redis, clock: Clock): () => void {
  let attempts = 0;
  let closed = false;
  let cancel: (() => void) | undefined;
  client.on('end', () => {
    if (closed || cancel) return;
    attempts += 1;
    cancel = clock.after(pauseBefore(attempts), () => {
      cancel = undefined;
      if (client.status === 'ready' && !hasConnection(client)) client.status = 'end';
      if (client.status === 'end') client.connect().catch(() => {}); // the next 'end' event retries
    });
  });
  client.on('ready', () => {
    if (hasConnection(client)) attempts = 0;
  });
  return () => {
    closed = true;
    cancel?.();
    client.disconnect();
  };
}

/** Whether the client has an open socket: ioredis 5 may call a closed one ready. */
function hasConnection({ stream }: Redis): boolean {
  return stream?.destroyed === false;
}

/**
 * Does `work` on each connection that the client makes from now on, and reports the outcome, unless the connection was
 * replaced meanwhile. A connection on which `work` failed is replaced: at once, or later if it is not the first in a row.
 * Returns a function that stops this.
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
    latest = NaN; // the outcome of an attempt under way counts no more
    client.off('ready', ready);
  };
}
