import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { createHash } from 'node:crypto';
import { exclusive, shares } from '../../lib/engine/locks/native-scripts.js';
import { besideTimestamps } from '../../lib/engine/locks/timestamp-compat/timestamp-compat.js';
import { LuaError } from '../../lib/memory/lua/values.js';
import { AWAITING, PERMITS, SHARED } from '../../lib/engine/protocol/constants.js';
import { type LuaScript, type Operand } from '../../lib/engine/redis/index.js';
import { ManualClock, MemoryServer } from '../../lib/memory/testing/index.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { luaScripts } from '../support/lua-scripts.js';
import { random } from '../support/random.js';
import { until } from '../support/until.js';

/** How many steps each run of scripts takes. */
const STEPS = 120;
const RUNS = process.env['FULL'] === undefined ? 40 : 400;

/** How much longer a key lives on Redis than it says, and half of that besides, so that it ends only when the test lets time pass. */
const SLOWER = 1_000_000;

/** What makes the time of a script on Redis that of the test: the last operand says it in µs. */
const TIME = `
local micros = table.remove(ARGV)
local redis = (function(redis)
  local now = math.floor(tonumber(micros) / 1000)
  local function slowly(value)
    if not string.match(value, '^%-?%d+$') then
      return value
    end
    return string.format('%.0f', value * ${SLOWER} + (tonumber(value) > 0 and ${SLOWER / 2} or 0))
  end
  local function through(right)
    return function(name, ...)
      local operands = { ... }
      if name == 'TIME' then
        return { string.sub(micros, 1, -7), string.format('%d', tonumber(string.sub(micros, -6))) }
      elseif name == 'PTTL' then
        local left = right(name, ...)
        return left > 0 and math.floor(left / ${SLOWER}) or left
      elseif name == 'PEXPIRE' then
        operands[2] = slowly(operands[2])
      elseif name == 'PEXPIREAT' then
        name, operands[2] = 'PEXPIRE', slowly(operands[2] - now)
      elseif name == 'SET' then
        for at = 3, #operands do
          if operands[at] == 'PX' then
            operands[at + 1] = slowly(operands[at + 1])
          end
        end
      end
      return right(name, unpack(operands))
    end
  end
  return setmetatable({ call = through(redis.call), pcall = through(redis.pcall) }, { __index = redis })
end)(redis)
`;

/** All that stands in a Redis, and how long it lives on. */
const DATABASE = `
local found = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  local kind, value = redis.call('TYPE', key).ok, nil
  if kind == 'string' then
    value = redis.call('GET', key)
  elseif kind == 'hash' then
    value = redis.call('HGETALL', key)
  elseif kind == 'list' then
    value = redis.call('LRANGE', key, 0, -1)
  else
    value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  end
  local left = redis.call('PTTL', key)
  found[#found + 1] = { key, kind, value, left > 0 and math.floor(left / ${SLOWER}) or left }
end
return found`;

/** So much time passes for every key. */
const AGE = `
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key)
  if left > 0 then
    redis.call('PEXPIRE', key, string.format('%.0f', left - ARGV[1] * ${SLOWER}))
  end
end`;

const HEARING = ['a.1.x', 'b.1.x'];
const HOLDERS = ['a.1.x/1', 'a.1.x/2', 'b.1.x/3', 'c.1.x/4'];
const LOCKS = ['k', 'l'];

let redis: RedisProcess;
let client: Redis;
let inboxes: Redis;
let recorder: Redis;
let scripts: LuaScript[];

beforeAll(async () => {
  redis = await RedisProcess.start();
  [client, inboxes, recorder] = [new Redis(redis.url), new Redis(redis.url), new Redis(redis.url)];
  await inboxes.subscribe(...HEARING.map((process) => `inbox:${process}`));
  await recorder.psubscribe('*');
  scripts = await luaScripts();
});

afterAll(async () => {
  for (const each of [client, inboxes, recorder]) each.disconnect();
  await redis.stop();
});

/** Draws what scripts are passed, so that they meet. */
class Draw {
  constructor(
    private readonly chance: () => number,
    /** The time of the test in ms. */
    private readonly now: () => number,
  ) {}

  one<T>(...options: readonly T[]): T {
    return options[Math.floor(this.chance() * options.length)]!;
  }

  /** What stands behind a script in EVAL. */
  operands(script: LuaScript): Operand[] {
    const special = SPECIAL.get(script);
    if (special) return special(this);
    const lock = this.one(...LOCKS);
    const keys = Object.fromEntries(
      script.keys.map((name) => [name, name === 'lock' ? lock : keyOf(lock, name)]),
    );
    const args = Object.fromEntries(script.args.map((name) => [name, this.operand(name)]));
    if (args['kind'] === 's') Object.assign(args, { permits: 0, count: undefined });
    if (args['kind'] === 'p') args['permits'] = Math.max(2, Number(args['count'] ?? 1));
    return [script.keys.length, ...script.keyList(keys).keys, ...script.argList(args)];
  }

  operand(name: string): Operand | undefined {
    const make = OPERANDS[name];
    if (!make) throw new Error(`What is "${name}" of a script?`);
    return make(this);
  }

  entry(): string {
    const [holder, ttl] = [this.operand('holder'), this.operand('ttl')];
    return `${holder}/${ttl}/${this.one('x0', 'x1', 'x16', 's1', 'p1/2/1', 'p1/3/3')}`;
  }

  /** A moment near now, in ms. */
  moment(): number {
    return Math.floor(this.now()) + this.one(-5_000, -1, 0, 1, 3_000);
  }
}

const OPERANDS: Readonly<Record<string, (draw: Draw) => Operand | undefined>> = {
  holder: (draw) => draw.one(...HOLDERS),
  former: (draw) => draw.one(undefined, ...HOLDERS),
  successor: (draw) => draw.one(...HOLDERS),
  process: (draw) => draw.one(...HEARING),
  ttl: (draw) => draw.one(900, 2_000, 30_000),
  tokens: (draw) => draw.one(0, 1, 16),
  not_after: (draw) => draw.one(1, 9e15, 9e15, 9e15, 9e15),
  inbox: () => 'inbox:',
  limit: (draw) => draw.one(0, 1, 5, 5),
  arrival: (draw) => draw.one(undefined, undefined, draw.moment() * 1_000, AWAITING + 7),
  timestamp_compat: (draw) => draw.one(undefined, 1),
  kind: (draw) => draw.one('s', 'p'),
  permits: () => 2,
  count: (draw) => draw.one(1, 2, 3),
  condition: (draw) => draw.one('c', 'd'),
  over: (draw) => draw.one(0, 1),
  unsignalled: (draw) => draw.one(undefined, 1),
  entries: (draw) => Array.from({ length: draw.one(1, 2) }, () => draw.entry()).join(' '),
  entry: (draw) => draw.one(undefined, draw.entry()),
  served: (draw) => draw.one(undefined, draw.entry()),
  keep: (draw) => draw.one(undefined, undefined, 1_500),
  kept: () => 'kept',
  token: (draw) => draw.one(undefined, draw.moment() * 1_000),
  marker: (draw) => draw.one(undefined, undefined, SHARED, PERMITS),
  most: (draw) => draw.one(1, 9),
  last: (draw) => draw.one(undefined, AWAITING + 7, draw.moment() * 1_000),
  sight: (draw) => draw.one(undefined, undefined, sightOf(draw.one(...HOLDERS)), sightOf('nobody')),
  attempt: (draw) => draw.one(0, 1, 2),
  proposed: (draw) => draw.moment() * 1_000,
  run: (draw) => draw.one('abc', 'def'),
  grace: () => 3_000,
  mode: (draw) => draw.one('read', 'write'),
  fenced: (draw) => draw.one(0, 1),
  unit: (draw) => draw.one('ms', 's', 'float'),
  lasting: (draw) => draw.one(0, 1),
  seen: (draw) => draw.one(undefined, draw.moment()),
  type: (draw) => draw.one('string', 'hash'),
  publish: () => 'PUBLISH',
  channel: () => 'channel',
  older: (draw) => draw.one(undefined, 'older'),
  message: () => 'free',
  holds: (draw) => draw.one('', '{k}:'),
  commands: () => 'exists get set hset hget zadd zscore zcount del incr setnx getset lpush ltrim',
};

/** The operands of scripts that take several locks, and do not name them. */
const SPECIAL = new Map<LuaScript, (draw: Draw) => Operand[]>([
  [
    exclusive.acquireFree,
    (draw) => {
      const keys = ['', 'queue', 'version'].flatMap((name) => LOCKS.map((k) => keyOf(k, name)));
      const common = ['not_after', 'ttl', 'tokens', 'process'].map((name) => draw.operand(name)!);
      return [7, keyOf('', 'fence'), ...keys, ...common, '1', draw.one('2', '3')];
    },
  ],
  [
    exclusive.releaseFree,
    (draw) => {
      const keys = ['', 'queue'].flatMap((name) => LOCKS.map((k) => keyOf(k, name)));
      return [4, ...keys, draw.operand('process')!, draw.one('1', '3'), '2'];
    },
  ],
  [exclusive.extend, (draw) => extension(draw, [''], false)],
  [shares.extend, (draw) => extension(draw, ['', 'holders', 'version'], true)],
]);

function extension(draw: Draw, names: readonly string[], counts: boolean): Operand[] {
  const all = (name: string): Operand[] => LOCKS.map(() => draw.operand(name)!);
  const ttls = draw.one(all('ttl'), [...all('ttl'), 10_000, 10_000], [draw.operand('ttl')!]);
  const keys = LOCKS.flatMap((lock) => names.map((name) => keyOf(lock, name)));
  const ofEach = LOCKS.map(() => draw.one('', draw.operand('count')!));
  return [keys.length, ...keys, ...all('holder'), ...(counts ? ofEach : []), ...ttls];
}

/** How a script of force names who was seen to hold a lock. */
function sightOf(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}

function keyOf(lock: string, name: string): string {
  if (name === '') return lock;
  return name === 'fence' ? '{}:fence' : `{${lock}}:${name}`;
}

/** What a run found: an answer, or the code of the error. Before Redis 7, where it was raised stands before the code. */
async function answerOf(run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    const raised = (error as Error).message.replace(
      /^ERR Error running script.*?: @\w+:\s*\d+: /,
      '',
    );
    return { failed: error instanceof LuaError ? 'ERR' : (/^[A-Z]+\b/.exec(raised)?.[0] ?? 'ERR') };
  }
}

/** A database, key by key. */
type Row = readonly [key: string, type: string, value: unknown, left: number];

async function onRedis(): Promise<Row[]> {
  return sorted((await client.eval(DATABASE, 0)) as Row[]);
}

function inMemory({ keys }: MemoryServer): Row[] {
  return sorted(
    keys.names().map((key): Row => {
      const end = keys.endOf(key)!;
      const type = keys.typeOf(key) as 'string' | 'hash' | 'list' | 'zset';
      const left = end === Infinity ? -1 : end - Math.floor(keys.now);
      if (type === 'hash') return [key, type, [...keys.get(type, key)!].flat(), left];
      if (type !== 'zset') return [key, type, keys.get(type, key), left];
      const members = keys.get(type, key)!.ranks(0, -1);
      return [key, type, members.flatMap(({ name, score }) => [name, String(score)]), left];
    }),
  );
}

function sorted(rows: readonly Row[]): Row[] {
  return rows.toSorted(([one], [other]) => (one < other ? -1 : 1));
}

it('reads every script, beside clients of the SETNX articles too', () => {
  const server = new MemoryServer(new ManualClock());
  const draw = new Draw(random(1), () => 0);
  const all = scripts.filter(({ step }) => step.includes('KEYS'));
  expect(all.length).toBeGreaterThan(40);
  for (const script of all)
    expect(() => server.eval(script, draw.operands(script))).not.toThrow(/Lua|script/);
});

it.each(['native', 'dialect', 'guarded'])(
  'scripts do in memory what they do on Redis: %s',
  async (which) => {
    const native = scripts.filter(({ name }) => /^(lock|shares|condition)\./.test(name!));
    const others = scripts.filter((script) => !native.includes(script));
    const guarded = native.filter((script) => !SPECIAL.has(script)).map(besideTimestamps);
    const played = { native, dialect: others, guarded }[which]!;
    for (let seed = 1; seed <= RUNS; seed += 1) await play(seed, played, which === 'guarded');
  },
  300_000,
);

async function play(seed: number, played: readonly LuaScript[], isGuarded: boolean): Promise<void> {
  const chance = random(seed);
  const clock = new ManualClock();
  const server = new MemoryServer(clock);
  const draw = new Draw(chance, () => clock.wall());
  const [there, here]: [string[], string[]] = [[], []];
  const record = (_: string, channel: string, text: string): void =>
    void there.push(`${channel} ${text}`);
  const publish = server.publish.bind(server);
  server.publish = (channel, text) => {
    here.push(`${channel} ${text}`);
    return publish(channel, text);
  };
  for (const process of HEARING) server.subscribe(`inbox:${process}`, () => {});
  await client.flushall();
  recorder.on('pmessage', record);
  for (let step = 0; step < STEPS; step += 1) {
    const passes = chance() < 0.3 ? draw.one(1, 250, 900, 3_000) : 0;
    await clock.advance(passes);
    if (passes > 0) await client.eval(AGE, 0, passes);
    const script = draw.one(...played);
    const operands = operandsOf(draw, script, isGuarded);
    const [width, ...rest] = operands;
    const micros = String(Math.floor(clock.wall() * 1_000));
    const right = await answerOf(() =>
      client.eval(TIME + script.step, Number(width), ...rest.map(String), micros),
    );
    const answer = await answerOf(() => server.eval(script, operands));
    const where = { seed, step, script: script.name, operands };
    expect({ ...where, answer }).toEqual({ ...where, answer: right });
    expect({ ...where, database: inMemory(server) }).toEqual({
      ...where,
      database: await onRedis(),
    });
  }
  await client.publish('end', String(seed));
  await until('the messages are there', () => there.includes(`end ${seed}`));
  recorder.off('pmessage', record);
  expect(here).toEqual(there.slice(0, -1));
}

/** Of a guarded script: with the key that it has behind the others. */
function operandsOf(draw: Draw, script: LuaScript, isGuarded: boolean): Operand[] {
  const [width, ...rest] = draw.operands(script);
  if (!isGuarded) return [width!, ...rest];
  const keys = rest.slice(0, Number(width));
  return [
    Number(width) + 1,
    ...keys,
    keyOf(String(keys[0]), 'grant'),
    ...rest.slice(Number(width)),
  ];
}
