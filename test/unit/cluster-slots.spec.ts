import { describe, expect, it } from '@jest/globals';
import { batchesOf } from '../../lib/engine/locks/batches.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import { RedisLockStore } from '../../lib/engine/locks/lock/redis-lock-store.js';
import {
  callSettings,
  moduleSettings,
  READER,
  systemClock,
  NATIVE,
} from '../../lib/engine/options/index.js';
import { missingRights, rightsFor } from '../../lib/engine/redis/rights.js';
import { storeFailure } from '../../lib/engine/redis/store-failure.js';
import { LockOptionsError } from '../../lib/engine/errors/index.js';
import { ClusterSource } from '../../lib/engine/redis/cluster/cluster-source.js';
import { SlotMap, slotOf, slotTagOf } from '../../lib/engine/redis/cluster/slot-map.js';

// That it is what Redis computes for any key is tested against a server: test/faults/cluster.spec.ts.
describe('the slot of a key', () => {
  it.each([
    ['123456789', 12_739],
    ['{user1000}.following', slotOf('user1000')],
    ['foo{}{bar}', slotOf('foo{}{bar}')],
    ['foo{{bar}}zap', slotOf('{bar')],
    ['foo{bar}{zap}', slotOf('bar')],
  ])('of %s is %d', (key, slot) => expect(slotOf(key)).toBe(slot));
});

describe('the tag of a slot', () => {
  it('is the smallest number that is in it, whichever slot was asked for before', () => {
    const smallest = new Map<number, string>();
    for (let n = 0; smallest.size < 16_384; n += 1) {
      const slot = slotOf(String(n));
      if (!smallest.has(slot)) smallest.set(slot, String(n));
    }
    const keys = Array.from({ length: 20_000 }, (_, n) => `lock:order:${n}`);
    expect(keys.map(slotTagOf)).toEqual(keys.map((key) => smallest.get(slotOf(key))));
  });

  it('is the one that the page of the protocol names', () => {
    expect([slotOf('lock:account:42'), slotTagOf('lock:account:42')]).toEqual([1_539, '1095']);
  });
});

describe('CLUSTER SLOTS', () => {
  const mapped = (address: string): string => (address === 'inside:1' ? 'outside:11' : address);

  it('is read with replicas left out, unknown hosts filled in and addresses mapped', () => {
    const map = SlotMap.read(
      [
        [0, 99, ['inside', 1, 'id', []], ['replica', 9, 'id', []]],
        [100, 199, ['', 2, 'id', []]],
        [200, 299, [null, 3, 'id', []]],
        [300, 16_383, ['?', 4, 'id', ['ip', 'inside.ip']]],
      ],
      'asked:7',
      mapped,
    );
    expect([0, 99, 100, 199, 200, 300].map((slot) => map.owner(slot))).toEqual([
      'outside:11',
      'outside:11',
      'asked:2',
      'asked:2',
      'asked:3',
      'inside.ip:4',
    ]);
    expect(map.addresses).toEqual(['outside:11', 'asked:2', 'asked:3', 'inside.ip:4']);
  });

  it('leaves a slot that nobody serves without a node', () => {
    const map = SlotMap.read([[5, 6, ['a', 1]]], 'a:1', mapped);
    expect([4, 5, 6, 7].map((slot) => map.owner(slot))).toEqual([
      undefined,
      'a:1',
      'a:1',
      undefined,
    ]);
    expect(map.addresses).toEqual(['a:1']);
  });
});

it('batches keep to one group and one size, and lose nobody', () => {
  expect(batchesOf([1, 2, 1, 1, 2, 1], (n) => n, 2)).toEqual([
    [0, 2],
    [1, 4],
    [3, 5],
  ]);
});

it('no batch is of two slots, two modes or two dialects, and each lease is in one', () => {
  const settings = moduleSettings({ redis: { cluster: ['nowhere:1'] } });
  const lock = new RedisLockStore(settings, systemClock);
  const { format } = callSettings({ dialect: 'redlock' }, moduleSettings({}).call);
  const requests = Array.from({ length: 60 }, (_, at) => ({
    key: `{${at % 5}}${at}`,
    holder: `p/${at}`,
    ttl: 1_000,
    tokenBlock: 0,
    format: NATIVE,
    ...[{}, { share: READER }, { format }][at % 3],
  }));
  const batches = lock.batches(requests);
  const found = batches.map((batch) => batch.map((at) => requests[at]!));
  const kindOf = (request: LockRequest): string =>
    [slotOf(request.key), request.share !== undefined, request.format.name].join();
  for (const batch of found) expect(new Set(batch.map(kindOf)).size).toBe(1);
  expect(batches.flat().sort((a, b) => a - b)).toEqual([...requests.keys()]);
  // Those in our format are together: 5 slots in 2 modes; each of the dialect is a command of its own.
  expect(batches).toHaveLength(5 * 2 + 20);
});

it('a script that stopped half-way because its slot moves may have run', () => {
  const script = 'script: a1b2c3d4e5f60718293a4b5c6d7e8f9012345678, on @user_script:2.';
  // As Redis 6.2, 7.0, 8.2 and Valkey 9.0, 9.1 say it.
  const answers = [
    'ERR Error running script (call to f_a1): @user_script:2: @user_script: 2: Lua script attempted to access a non local key in a cluster node',
    `ERR Script attempted to access a non local key in a cluster node ${script}`,
    `ERR Unable to execute command 'mget' in script because undeclared keys were accessed during rehashing of the slot ${script}`,
    `ERR Script attempted to access a slot not served ${script}`,
    `ERR Command 'get' in script attempted to access keys that don't hash to the same slot ${script}`,
    'ERR Attempted to access a non local key in a cluster node script: on @user_script:2.',
  ];
  for (const answer of answers) {
    const error = Object.assign(new Error(answer), { name: 'ReplyError' });
    expect(storeFailure(error, 'k')).toMatchObject({ outcome: 'unknown', retryable: true });
  }
});

it('a script whose keys a node refused before it ran has not run', () => {
  const answers = [
    'CLUSTERDOWN Hash slot not served',
    "CROSSSLOT Keys in request don't hash to the same slot",
  ];
  for (const answer of answers) {
    const error = Object.assign(new Error(answer), { name: 'ReplyError' });
    expect(storeFailure(error, 'k')).toMatchObject({ outcome: 'refused' });
  }
});

it('what a start tries names keys of one slot in each command', async () => {
  const tried: string[][] = [];
  const connection = {
    send: async (_eval: string, [, , calls]: [string, number, string]) => {
      tried.push(...(JSON.parse(calls) as string[][]));
      return [];
    },
  };
  const commands = ['get', 'mget', 'del', 'renamenx', 'zadd'];
  const rights = { ...rightsFor('lock:', []), commands };
  expect(await missingRights(connection as never, rights)).toEqual([]);
  expect(tried.map(([command]) => command)).toEqual(expect.arrayContaining(commands));
  for (const [command, ...keys] of tried) {
    const slots = keys.filter((key) => key.includes('rights')).map(slotOf);
    expect([command, new Set(slots).size]).toEqual([command, 1]);
  }
});

describe('the nodes of a Cluster that are named', () => {
  it('are read in each form', () => {
    const cluster = [
      'rediss://u:p@one:1',
      'two:2',
      '[::1]:3',
      { host: 'four', port: 4 },
      {},
      'six',
    ];
    expect(ClusterSource.of({ cluster })!.seeds).toEqual([
      'one:1',
      'two:2',
      '::1:3',
      'four:4',
      '127.0.0.1:6379',
      'six:6379',
    ]);
  });

  it.each([[[]], [['redis://u:s3cret@:x']], [['redis://u:s3cret%@host']]])(
    'are refused without a secret: %j',
    (cluster) => {
      const refused = (): unknown => ClusterSource.of({ cluster });
      expect(refused).toThrow(LockOptionsError);
      expect(refused).not.toThrow(/s3cret/);
    },
  );
});
