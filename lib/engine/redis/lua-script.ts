import { createHash } from 'node:crypto';
import {
  bulk,
  type CommonOperands,
  KeyList,
  type Keys,
  type Operand,
  type Operands,
} from './resp.js';

/** One run of a script. */
export interface ScriptRun<Answer> {
  readonly script: LuaScript;
  readonly keys: Keys;
  readonly args: readonly Operand[];
  /** Of a MergedScript: what stands once for all runs that leave as one. They do so only where it is the same object. */
  readonly common?: CommonOperands;
  /** Of a MergedScript that wants it before those: the server's time in µs after which nothing happens. The earliest stands for all. */
  readonly notAfter?: number;
  /** The lock's key, for messages. */
  readonly key?: string | undefined;
  /** When it is sent (monotonic ms), if that is known already. */
  readonly sentAt?: number;
  /** False as soon as nobody needs the run any more: it is not sent again then. */
  readonly wanted?: () => boolean;
  /** Called when the server did not take it and it is sent again, behind all that was sent since. */
  readonly sentAgain?: () => void;
  /** ASKING goes before it: the slot of its keys is still on its way to this node of a Cluster. */
  readonly asking?: boolean;
  /** Of an answer that counts only when replicas have what was written: what it is, or throws, when too few do. */
  readonly unconfirmed?: (answer: Answer, error: Error) => Answer;
  /** What Redis' reply means; strings in it are strings. May throw what the run rejects with, or take a further step. */
  read(reply: unknown, receivedAt: number): Answer | Promise<Answer>;
}

/** The same run, sent in another way. */
export function alike<Answer>(
  run: ScriptRun<Answer>,
  sending: Pick<ScriptRun<Answer>, 'asking' | 'sentAgain'>,
): ScriptRun<Answer> {
  return Object.assign(Object.create(run) as ScriptRun<Answer>, sending); // a run may be an object with methods
}

/** The lines in which a script declares its operands. */
function declarations(table: 'KEYS' | 'ARGV' | 'KEYS|ARGV'): RegExp {
  return new RegExp(`^\\s*local ([\\w, ]+) = (?:${table})\\[.*$`, 'gm');
}

/** The names of operands, of which equal lists are one object. */
const known = new Map<string, readonly string[]>();

function declared(source: string, table: 'KEYS' | 'ARGV'): readonly string[] {
  const names = [...source.matchAll(declarations(table))].map(([, list]) => list!).join(', ');
  if (!known.has(names)) known.set(names, names === '' ? [] : names.split(', '));
  return known.get(names)!;
}

/**
 * A Lua script whose operands are passed by name. The names are those that the script itself declares,
 * `local lock, fence = KEYS[1], KEYS[2]`.
 */
export class LuaScript {
  /** Its text, as the server knows it. */
  readonly source: string;
  readonly sha: string;
  readonly keys: readonly string[];
  readonly args: readonly string[];
  /** What tracing sees of a call: the hash and the name, but no key and no holder id. */
  traced: readonly [sha: string, name?: string];
  readonly #batchable: boolean;
  /** The beginning of an EVALSHA, by the number of its operands. */
  readonly #heads: string[] = [];

  constructor(
    /** As it is written: its step for one run. */
    readonly step: string,
    /** Whether runs of it may leave as one: it has these keys once, and each step stands for itself. */
    batchable?: 'batchable',
  ) {
    this.keys = declared(step, 'KEYS');
    this.args = declared(step, 'ARGV');
    this.#batchable = batchable !== undefined;
    this.source = this.#batchable ? batchedSource(step, this.keys, this.args) : step;
    this.sha = createHash('sha1').update(this.source).digest('hex');
    this.traced = [this.sha];
  }

  /** What it is called where commands are traced: `lock.acquire`. */
  get name(): string | undefined {
    return this.traced[1];
  }

  set name(name: string) {
    this.traced = [this.sha, name];
  }

  /** The keys in the order of the script. */
  keyList(keys: Readonly<Record<string, string>>): KeyList {
    return new KeyList(this.keys.map((name) => keys[name]!));
  }

  /** Those of the operands that the script declares; at the end they may be left out: the script finds nil. */
  argList(args: Operands): Operand[] {
    let last = this.args.length;
    while (last > 0 && args[this.args[last - 1]!] === undefined) last -= 1;
    const list: Operand[] = [];
    for (let at = 0; at < last; at += 1) list.push(args[this.args[at]!] ?? '');
    return list;
  }

  /** Whether a run may leave in the command of another one. */
  joins(run: ScriptRun<unknown>, added: ScriptRun<unknown>): boolean {
    return this.#batchable && added.args.length === run.args.length;
  }

  /** The EVALSHA, or EVAL, that takes these runs, as it goes over the wire. */
  encoded(runs: readonly { readonly run: ScriptRun<unknown> }[], byText: boolean): string {
    let names = '';
    let operands = '';
    for (const { run } of runs) {
      names += run.keys.names;
      for (const arg of run.args) operands += bulk(arg);
    }
    const { run } = runs[0]!;
    const width = runs.length * run.keys.keys.length; // one run may be of several locks
    const head = this.head(width + runs.length * run.args.length, byText);
    return `${head}${bulk(width)}${names}${operands}`;
  }

  /** The beginning of an EVALSHA, or EVAL, with so many operands. */
  protected head(operands: number, byText: boolean): string {
    if (byText) return `*${operands + 3}\r\n${bulk('eval')}${bulk(this.source)}`;
    return (this.#heads[operands] ??= `*${operands + 3}\r\n${bulk('evalsha')}${bulk(this.sha)}`);
  }

  /** The same behind the script, for a run alone that ioredis encodes. */
  operands({ keys: { keys }, args }: ScriptRun<unknown>): Operand[] {
    return [keys.length, ...keys, ...args];
  }

  /** What of a reply is one run's, of so many that left together. */
  replyTo(nth: number, runs: number, reply: unknown): unknown {
    return runs > 1 ? (Array.isArray(reply) ? (reply as unknown[])[nth] : undefined) : reply;
  }
}

/** A line of a step that makes a table for all runs. */
const SHARED = /^local [A-Z]+ = \{.*\}$/gm;

/**
 * A script that takes a step for one run, or for several that each have as many operands as the others. To several it answers
 * with an answer for each; where a step failed, its error. A table that the step names in capitals is one for all.
 * One text for both: a server that lacks it lacks it for all, so no run passes another one.
 */
function batchedSource(written: string, keys: readonly string[], args: readonly string[]): string {
  const step = written.replaceAll(declarations('KEYS|ARGV'), '');
  const width = keys.length;
  if (/\b(?:KEYS|ARGV)\b/.test(step))
    throw new TypeError('A script that counts its operands cannot be merged.');
  // Redis 6 raises a text, Redis 7 a table as an answer would be.
  const shared = step.match(SHARED)?.join('\n') ?? '';
  return `${shared}
local function step(${[...keys, ...args].join(', ')})
${step.replaceAll(SHARED, '')}
end
if #KEYS == ${width} then
  return step(${keys.map((_, at) => `KEYS[${at + 1}]`).join(', ')}, unpack(ARGV))
end
local runs = #KEYS / ${width}
local operands, answers = #ARGV / runs, {}
for nth = 1, runs do
  local key, operand = (nth - 1) * ${width} + 1, (nth - 1) * operands + 1
  local done, answer = pcall(step, ${keys.map((_, at) => `KEYS[key + ${at}]`).join(', ')}, unpack(ARGV, operand, operand + operands - 1))
  if not done and type(answer) == 'string' then
    answer = { err = answer }
  end
  answers[nth] = answer or false
end
return answers`;
}

/** Scripts, each of which is called by its field in the table, unless it has a name: `lock.acquire`. */
export function named<Scripts extends Readonly<Record<string, LuaScript>>>(
  table: string,
  scripts: Scripts,
): Scripts {
  for (const [field, script] of Object.entries(scripts)) script.name ??= `${table}.${field}`;
  return scripts;
}
