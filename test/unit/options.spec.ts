import { describe, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { LockOptionsError, type RedisLockOptions } from '../../lib/index.js';
import {
  CALL_DEFAULTS,
  callSettings,
  milliseconds,
  moduleSettings,
  NATIVE,
} from '../../lib/engine/options/index.js';
import { checkPolicy } from '../../lib/engine/options/locked-options.js';

const ANY = { min: 0, max: Infinity };

describe('a duration', () => {
  it.each<[unknown, number]>([
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5s', 1_500],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    [250, 250],
    [0.4, 0],
    [0, 0],
    [Infinity, Infinity],
  ])('%p is %p ms', (value, ms) => {
    expect(milliseconds('ttl', value, ANY)).toBe(ms);
  });

  it.each([
    ['30'],
    ['30 s'],
    ['s'],
    [''],
    ['-1s'],
    ['1w'],
    ['1e3ms'],
    [-1],
    [NaN],
    [null],
    [{}],
    [true],
  ])('%p is refused, by the option’s name', (value) => {
    const parse = (): number => milliseconds('ttl', value, ANY);
    expect(parse).toThrow(LockOptionsError);
    expect(parse).toThrow(/Option "ttl" is .*'500ms', '30s', '5m'/);
  });

  it.each<[unknown, string]>([
    [NaN, 'NaN'],
    [-Infinity, '-Infinity'],
    [-1, '-1'],
    [10n, '10'],
    [null, 'null'],
    ['soon', '"soon"'],
    [true, 'true'],
    [Symbol('s'), 'Symbol(s)'],
    [[1], 'an array'],
    [new Date(0), 'an object'],
    [() => 1, 'a function'],
  ])('that is %p is refused as what it is', (value, shown) => {
    expect(() => milliseconds('ttl', value, ANY)).toThrow(`Option "ttl" is ${shown}; it takes`);
    for (const option of ['ttl', 'wait', 'minHold', 'maxHold']) {
      const given = (): unknown => callSettings({ [option]: value }, CALL_DEFAULTS);
      expect(given).toThrow(LockOptionsError);
      expect(given).toThrow(`Option "${option}" is ${shown}; it takes`);
    }
  });

  it('keeps its bounds, both inclusive', () => {
    const bounds = { min: 50, max: 100 };
    expect([50, 100].map((ms) => milliseconds('ttl', ms, bounds))).toEqual([50, 100]);
    for (const ms of [49, 101, Infinity]) {
      expect(() => milliseconds('ttl', ms, bounds)).toThrow('from 50 ms to 100 ms');
    }
  });
});

describe('the options of a call', () => {
  it('says where permits are asked for', () => {
    const options = { permits: 2 } as object;
    expect(() => callSettings(options, CALL_DEFAULTS)).toThrow(
      'locks.semaphore(name, { permits })',
    );
  });

  it('stand over the defaults; undefined leaves them', () => {
    expect(callSettings({}, CALL_DEFAULTS)).toEqual(CALL_DEFAULTS);
    expect(callSettings({ ttl: undefined, wait: 0, renew: false }, CALL_DEFAULTS)).toEqual({
      ...CALL_DEFAULTS,
      wait: 0,
      renew: false,
    });
  });

  it('have the defaults that are written down', () => {
    expect(CALL_DEFAULTS).toEqual({
      ttl: 30_000,
      wait: 10_000,
      maxWaiting: Infinity,
      renew: true,
      minHold: 0,
      maxHold: Infinity,
      fencing: true,
      reentrant: true,
      slowWait: Infinity,
      slowHold: Infinity,
      format: NATIVE,
    });
  });

  it.each<[string, object]>([
    ['ttl', { ttl: 49 }],
    ['ttl', { ttl: '25h' }],
    ['ttl', { ttl: Infinity }],
    ['wait', { wait: -1 }],
    ['maxWaiting', { maxWaiting: 0 }],
    ['maxWaiting', { maxWaiting: 1.5 }],
    ['maxWaiting', { maxWaiting: '5' }],
    ['minHold', { minHold: Infinity }],
    ['maxHold', { maxHold: 0 }],
    ['minHold', { minHold: '2m', maxHold: '1m' }],
    ['minHold', { ttl: 400, renew: false, minHold: 3_000 }],
    ['renew', { renew: 1 }],
    ['fencing', { fencing: 'off' }],
    ['reentrant', { reentrant: null }],
    ['waiit', { waiit: 1 }],
  ])('"%s" is refused in %j', (name, options) => {
    expect(() => callSettings(options, CALL_DEFAULTS)).toThrow(LockOptionsError);
    expect(() => callSettings(options, CALL_DEFAULTS)).toThrow(`"${name}"`);
  });
});

describe('the options of a module', () => {
  it('have defaults for all', () => {
    expect(moduleSettings({})).toMatchObject({
      redis: { host: '127.0.0.1', port: 6379 },
      keyPrefix: 'lock:',
      commandTimeout: 2_000,
      connectTimeout: 5_000,
      outageWait: 30_000,
      limits: { waitersPerKey: 10_000, waitersPerProcess: 50_000, leases: 100_000, keyBytes: 512 },
      lazyConnect: false,
      call: CALL_DEFAULTS,
    });
    expect(moduleSettings({ limits: { leases: 5 }, ttl: '1m', keyPrefix: '' })).toMatchObject({
      keyPrefix: '',
      limits: { leases: 5, keyBytes: 512 },
      call: { ttl: 60_000 },
    });
  });

  it.each<[string, object]>([
    ['redis', { redis: 'http://localhost' }],
    ['redis', { redis: '' }],
    ['redis', { redis: true }],
    ['redis', { redis: { port: '' } }],
    ['redis', { redis: { port: '0x10' } }],
    ['redis', { redis: { port: true } }],
    ['redis', { redis: { db: ' ' } }],
    ['keyPrefix', { keyPrefix: 7 }],
    ['keyPrefix', { keyPrefix: 'a\n' }],
    ['keyPrefix', { keyPrefix: 'x'.repeat(257) }],
    ['commandTimeout', { commandTimeout: '2 minutes' }],
    ['commandTimeout', { commandTimeout: '61s' }],
    ['connectTimeout', { connectTimeout: 49 }],
    ['connectTimeout', { connectTimeout: '11m' }],
    ['outageWait', { outageWait: -1 }],
    ['keyBytes', { limits: { keyBytes: 1.5 } }],
    ['leases', { limits: { leases: '5' } }],
    ['lock', { limits: { lock: 1 } }],
    ['signal', { signal: AbortSignal.abort() }],
  ])('"%s" is refused', (name, options: RedisLockOptions) => {
    expect(() => moduleSettings(options)).toThrow(LockOptionsError);
    expect(() => moduleSettings(options)).toThrow(`"${name}"`);
  });

  it.each<[object, string]>([
    [{ keyPrefix: 'a{' }, '"keyPrefix" takes a string of up to 256 characters without braces.'],
    [{ lazyConnect: 1 }, '"lazyConnect" takes true or false.'],
    [{ fairness: 'fair' }, "\"fairness\" takes 'local' or 'strict'."],
    [{ lockOrder: true }, "\"lockOrder\" takes 'ignore', 'warn' or 'throw'."],
    [{ durability: 'strict' }, "\"durability\" takes 'ignore', 'warn' or 'refuse'."],
    [{ guard: 'dog' }, '"guard" takes \'timestamp\'.'],
  ])('%j is refused by what the option takes', (options: RedisLockOptions, takes) => {
    expect(() => moduleSettings(options)).toThrow(new LockOptionsError(`Option ${takes}`));
  });

  it.each<[string, object]>([
    ['node-redis', { duplicate() {}, get() {}, options: { url: 'redis://u:hunter2@h' } }],
    ['a Cluster of node-redis', { duplicate() {}, get() {} }],
    ['@upstash/redis', { get() {}, client: {} }],
    ['ioredis-mock', { duplicate() {}, get() {}, nodes: {}, options: { host: 'h', port: 1 } }],
  ])('refuse a client of %s with the remedy', (_, redis) => {
    const remedy = new LockOptionsError(
      'Option "redis" is a client, and none of ioredis. Give the URL, or for a test without Redis take memoryLockService() of "nest-redis-lock/testing".',
    );
    expect(() => moduleSettings({ redis })).toThrow(remedy);
  });

  it.each(['socket', 'rootNodes', 'token'])(
    'refuse "%s", an option of other clients, in those of ioredis and of its clients',
    (name) => {
      const options = { [name]: {} };
      const client = new Redis({ ...options, lazyConnect: true });
      const cluster = new Cluster(['a:1'], { redisOptions: options, lazyConnect: true });
      for (const redis of [options, client, cluster]) {
        expect(() => moduleSettings({ redis })).toThrow(
          `"redis" has "${name}", which ioredis does not know. Give the URL alone, or host and port.`,
        );
      }
    },
  );

  it('never show a URL in an error', () => {
    const redis = 'http://admin:hunter2@host';
    expect(() => moduleSettings({ redis })).toThrow(/^(?!.*hunter2)/);
  });
});

describe("a decorator's options", () => {
  it('take a function for onBusy, and for nothing else', () => {
    const answer = (): string => 'busy';
    expect(() => checkPolicy({ onBusy: answer })).not.toThrow();
    for (const name of ['onLost', 'onUnavailable', 'returns']) {
      expect(() => checkPolicy({ [name]: answer })).toThrow(`Option "${name}" takes '`);
    }
  });
});
