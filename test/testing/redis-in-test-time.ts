import { Redis } from 'ioredis';
import type { LuaScript, Operand } from '../../lib/engine/redis/index.js';
import { RedisProcess } from '../../tools/redis-server.js';

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

/** A database, key by key. */
export type Row = readonly [key: string, type: string, value: unknown, left: number];

/** A Redis in which time passes when a test says so, for its keys and for the scripts that run there. */
export class RedisInTestTime {
  readonly #clients: Redis[] = [];
  #redis!: RedisProcess;
  client!: Redis;
  /** Hears all messages. */
  recorder!: Redis;

  /** Somebody hears the inboxes of these processes. */
  async start(hearing: readonly string[]): Promise<void> {
    this.#redis = await RedisProcess.start();
    [this.client, this.recorder] = [this.#connect(), this.#connect()];
    await this.#connect().subscribe(...hearing.map((process) => `inbox:${process}`));
    await this.recorder.psubscribe('*');
  }

  /** The answer of a script, at this time in ms. */
  run({ step }: LuaScript, [width, ...rest]: readonly Operand[], now: number): Promise<unknown> {
    const micros = String(Math.floor(now * 1_000));
    return this.client.eval(TIME + step, Number(width), ...rest.map(String), micros);
  }

  /** So many ms pass for every key. */
  async pass(ms: number): Promise<void> {
    await this.client.eval(AGE, 0, ms);
  }

  async rows(): Promise<Row[]> {
    return (await this.client.eval(DATABASE, 0)) as Row[];
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.disconnect();
    await this.#redis.stop();
  }

  #connect(): Redis {
    const client = new Redis(this.#redis.url);
    this.#clients.push(client);
    return client;
  }
}
