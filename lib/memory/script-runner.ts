import { createHash } from 'node:crypto';
import { BoundedCache } from '../engine/options/index.js';
import type { LuaScript, Operand } from '../engine/redis/index.js';
import { type Channels, commandOf, type Reply } from './commands/index.js';
import { type Keyspace, RefusedCommand } from './keyspace.js';
import { compile } from './lua/compile.js';
import { LIBRARY } from './lua/library.js';
import { general, LuaError, LuaTable, type LuaValue, textOf } from './lua/values.js';

/** The value of `redis.REDIS_VERSION_NUM`: the server in memory knows the features of Redis 7. */
const VERSION = 0x00_07_00_00;

/** Compiled scripts by their text. */
const compiled = new BoundedCache((text) =>
  compile(text, ['redis', 'KEYS', 'ARGV', ...Object.keys(LIBRARY)]),
);

/** Runs scripts on the keys of a server, each atomically. */
export class ScriptRunner {
  readonly #redis: LuaTable;

  constructor(
    private readonly keys: Keyspace,
    private readonly channels: Channels,
  ) {
    this.#redis = LuaTable.of({
      REDIS_VERSION_NUM: VERSION,
      call: (args) => [this.#call(args)],
      pcall: (args) => [this.#tried(args)],
      sha1hex: ([text]) => [createHash('sha1').update(textOf(text)).digest('hex')],
    });
  }

  /** Runs a command for a script and returns its reply. @throws RefusedCommand as Redis does. */
  run({ step }: LuaScript, [width, ...operands]: readonly Operand[]): unknown {
    const texts = operands.map(String);
    const [names, args] = [texts.slice(0, Number(width)), texts.slice(Number(width))];
    this.keys.tick();
    const [answer] = compiled.get(step)([
      this.#redis,
      new LuaTable(names),
      new LuaTable(args),
      ...Object.values(LIBRARY),
    ]);
    return answerOf(answer);
  }

  #call([name, ...args]: readonly LuaValue[]): LuaValue {
    return valueOf(commandOf(textOf(name))(this.keys, args.map(operandOf), this.channels));
  }

  #tried(args: readonly LuaValue[]): LuaValue {
    try {
      return this.#call(args);
    } catch (error) {
      if (error instanceof RefusedCommand) return LuaTable.of({ err: error.message });
      throw error;
    }
  }
}

/** The operand of a command, converted from a script's value as Redis does. */
function operandOf(value: LuaValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return general(value, 17);
  throw new LuaError('Lua redis lib command arguments must be strings or integers');
}

/** A reply, converted to a script's value. */
function valueOf(reply: Reply): LuaValue {
  if (reply === null) return false;
  if (Array.isArray(reply)) return new LuaTable(reply.map(valueOf));
  return typeof reply === 'object' ? LuaTable.of({ ok: reply.ok }) : reply;
}

/** A script's result as a client gets it: numbers lose their fractions, and a list ends before the first nil. */
function answerOf(value: LuaValue): unknown {
  if (value === undefined || value === false) return null;
  if (value === true) return 1;
  if (typeof value === 'number') return Math.trunc(value);
  if (!(value instanceof LuaTable)) return value;
  const [failed, status] = [value.get('err'), value.get('ok')];
  if (typeof failed === 'string') return new RefusedCommand(failed);
  if (status !== undefined) return status;
  const end = value.list.indexOf(undefined);
  return value.list.slice(0, end < 0 ? undefined : end).map(answerOf);
}
