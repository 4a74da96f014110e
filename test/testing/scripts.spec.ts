import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { besideTimestamps } from '../../lib/engine/locks/timestamp-compat/timestamp-compat.js';
import type { LuaScript } from '../../lib/engine/redis/index.js';
import { LuaError } from '../../lib/memory/lua/values.js';
import { ManualClock, MemoryServer } from '../../lib/memory/testing/index.js';
import { luaScripts } from '../support/lua-scripts.js';
import { random } from '../support/random.js';
import { until } from '../support/until.js';
import { Draw, HEARING, operandsOf, SPECIAL } from './drawn-operands.js';
import { RedisInTestTime, type Row } from './redis-in-test-time.js';

/** How many steps each run of scripts takes. */
const STEPS = 120;
const RUNS = process.env['FULL'] === undefined ? 40 : 400;

const redis = new RedisInTestTime();
let scripts: LuaScript[];
beforeAll(async () => {
  await redis.start(HEARING);
  scripts = await luaScripts();
});
afterAll(() => redis.stop());

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
  await redis.client.flushall();
  redis.recorder.on('pmessage', record);
  for (let step = 0; step < STEPS; step += 1) {
    const passes = chance() < 0.3 ? draw.one(1, 250, 900, 3_000) : 0;
    await clock.advance(passes);
    if (passes > 0) await redis.pass(passes);
    const script = draw.one(...played);
    const operands = operandsOf(draw, script, isGuarded);
    const right = await answerOf(() => redis.run(script, operands, clock.wall()));
    const answer = await answerOf(() => server.eval(script, operands));
    const where = { seed, step, script: script.name, operands };
    expect({ ...where, answer }).toEqual({ ...where, answer: right });
    expect({ ...where, database: inMemory(server) }).toEqual({
      ...where,
      database: await onRedis(),
    });
  }
  await redis.client.publish('end', String(seed));
  await until('the messages are there', () => there.includes(`end ${seed}`));
  redis.recorder.off('pmessage', record);
  expect(here).toEqual(there.slice(0, -1));
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

async function onRedis(): Promise<Row[]> {
  return sorted(await redis.rows());
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
