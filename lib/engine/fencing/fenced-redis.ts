import { LockOptionsError, StaleFencingTokenError } from '../errors/index.js';
import { type Duration, milliseconds } from '../options/index.js';
import { type FencingTokenSource, tokenOf } from './fencing-token.js';
import {
  checkSingleKey,
  fenceKey,
  guardedCommand,
  type GuardedScript,
  guardedScript,
} from './guarded-script.js';

/** An operand of a Redis command. */
export type RedisOperand = string | number | Buffer;

/** The parts of a client that a guard needs: any ioredis `Redis` or `Cluster` has them. */
export interface FencedRedisClient {
  readonly options: { readonly keyPrefix?: string | undefined };
  evalsha(sha: string, keys: number, ...operands: RedisOperand[]): Promise<unknown>;
  eval(source: string, keys: number, ...operands: RedisOperand[]): Promise<unknown>;
}

/** The options of {@link fencedRedis}. */
export interface FencedRedisOptions {
  /**
   * How long a key's newest token is remembered after a write; `Infinity`: for ever. From 1 s up. A later write by an older
   * holder is not found out. @default '720h'
   */
  readonly retention?: Duration | undefined;
}

const RETENTION = { min: 1_000, max: Infinity };

/**
 * Writes to Redis under one fencing token. Each write is one script that compares the token with the newest one its keys
 * have seen, and writes nothing if that is newer. Equal tokens pass: one holder may write often. The newest token of `key`
 * lies beside it, in `{key}:fenced-by`.
 *
 * Only writes through this class are guarded: a plain `SET` passes by, and reads need no guard. Tokens of two locks say
 * nothing about each other: one lock alone guards what is written under it. Every method throws `StaleFencingTokenError`,
 * or the client's error.
 * @see https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html
 */
export class FencedRedis {
  readonly #client: FencedRedisClient;
  readonly #token: number;
  readonly #lock: string | undefined;
  readonly #retention: number | '';

  /** @internal */
  constructor(
    client: FencedRedisClient,
    source: FencingTokenSource,
    { retention = '720h' }: FencedRedisOptions,
  ) {
    const { token, key } = tokenOf(source);
    const ms = milliseconds('retention', retention, RETENTION);
    this.#client = client;
    this.#token = token;
    this.#lock = key;
    this.#retention = ms === Infinity ? '' : ms;
  }

  /**
   * `SET key value`, with the options of Redis after it: `'PX', 1000`, `'NX'`. Resolves to Redis' answer: `'OK'`, or null
   * if `NX` or `XX` prevented the write.
   * @throws StaleFencingTokenError if a later holder has written to the key; LockKeyError for an empty key, or one with a
   * closing brace and no {hash tag}.
   */
  set(key: string, value: RedisOperand, ...more: RedisOperand[]): Promise<unknown> {
    return this.call('SET', key, value, ...more);
  }

  /** `HSET` of these fields. Resolves to the number of fields that are new. Errors as in {@link set}. */
  hset(key: string, fields: Readonly<Record<string, RedisOperand>>): Promise<unknown> {
    return this.call('HSET', key, ...Object.entries(fields).flat());
  }

  /**
   * `DEL` of one key, whose newest token is remembered. Resolves to 1, or to 0 if there was no such key. Errors as in {@link set}.
   */
  del(key: string): Promise<unknown> {
    return this.call('DEL', key);
  }

  /**
   * Runs any command whose first operand is the one key it writes: `call('HINCRBY', 'account:1', 'balance', -30)`. Resolves
   * to Redis' answer.
   * @throws LockOptionsError for a command that writes other keys too, or has more than 7,900 operands; otherwise as {@link set}.
   */
  async call(command: string, key: string, ...operands: RedisOperand[]): Promise<unknown> {
    checkSingleKey(command, operands.length);
    return this.#run(guardedCommand, [key], [command, ...operands]);
  }

  /**
   * Runs a Lua script, with `KEYS` and `ARGV` as in EVAL; `source` should be a constant, since Redis keeps each. Every key
   * is guarded: if one has a newer token, nothing runs. Resolves to the script's first result.
   * @throws LockOptionsError for a script without a key, which nothing would guard; otherwise as {@link set}.
   */
  async eval(
    source: string,
    keys: readonly string[],
    args: readonly RedisOperand[] = [],
  ): Promise<unknown> {
    if (keys.length === 0) {
      throw new LockOptionsError(
        'A script without a key writes unguarded: name the keys it writes.',
      );
    }
    return this.#run(guardedScript(source), keys, args);
  }

  async #run(
    script: GuardedScript,
    keys: readonly string[],
    args: readonly RedisOperand[],
  ): Promise<unknown> {
    const { keyPrefix = '' } = this.#client.options;
    const fences = keys.map((key) => fenceKey(keyPrefix, key));
    const operands = [...keys, ...fences, this.#token, this.#retention, ...args];
    // A client with `stringNumbers` reads numbers as texts.
    const [written, reply, place] = (await this.#send(script, 2 * keys.length, operands)) as [
      written: 0 | 1 | '0' | '1',
      reply?: unknown,
      place?: number | string,
    ];
    if (Number(written) === 1) return reply ?? null;
    const resource = keys[Number(place) - 1]!;
    throw new StaleFencingTokenError(resource, this.#token, Number(reply), this.#lock);
  }

  async #send(
    { sha, source }: GuardedScript,
    keys: number,
    operands: RedisOperand[],
  ): Promise<unknown> {
    try {
      return await this.#client.evalsha(sha, keys, ...operands);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return this.#client.eval(source, keys, ...operands);
    }
  }
}

/**
 * Guards the writes of one holder, on any Redis: `fencedRedis(redis, lease).set('balance:1', 70)`. The client is the
 * application's own, with its prefix, retries and errors.
 * @throws LockOptionsError if `source` has no fencing token.
 */
export function fencedRedis(
  client: FencedRedisClient,
  source: FencingTokenSource,
  options: FencedRedisOptions = {},
): FencedRedis {
  return new FencedRedis(client, source, options);
}
