import { createHash } from 'node:crypto';
import { bulk, type CommonOperands, KeyList, type Operand, type Operands } from './resp.js';

/** One run of a script. */
export interface ScriptRun<Answer> {
  readonly script: LuaScript;
  readonly keys: KeyList;
  readonly args: readonly Operand[];
  /** For a MergedScript: operands that stand once for all runs of a command. Only runs with the same object join. */
  readonly common?: CommonOperands;
  /** For a MergedScript with a time limit: the server's time, in µs, after which a run does nothing. The earliest counts. */
  readonly notAfter?: number;
  /** The lock's key, for messages. */
  readonly key?: string | undefined;
  /** When the run is sent, in monotonic ms, if that is known already. */
  readonly sentAt?: number;
  /** False as soon as nobody needs the run any more: it is not sent again then. */
  readonly wanted?: () => boolean;
  /** Called when the server did not take the run and it is sent again, behind all later commands. */
  readonly sentAgain?: () => void;
  /** Whether ASKING goes first: the slot of the run's keys is still on its way to this node of a Cluster. */
  readonly asking?: boolean;
  /** If set, the answer counts only when replicas have the writes. Called when too few do: returns an answer, or throws. */
  readonly unconfirmed?: (answer: Answer, error: Error) => Answer;
  /** Interprets Redis' reply, with decoded strings. May throw the run's error, or take a further step. */
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

/** The lists of operand names that were seen: equal lists are one object. */
const known = new Map<string, readonly string[]>();

function declared(source: string, table: 'KEYS' | 'ARGV'): readonly string[] {
  const names = [...source.matchAll(declarations(table))].map(([, list]) => list!).join(', ');
  if (!known.has(names)) known.set(names, names === '' ? [] : names.split(', '));
  return known.get(names)!;
}

/**
 * A Lua script whose operands are passed by name. The script itself declares the names: `local lock, fence = KEYS[1],
 * KEYS[2]`.
 */
export class LuaScript {
  /** The text that is sent to the server. */
  readonly source: string;
  readonly sha: string;
  readonly keys: readonly string[];
  readonly args: readonly string[];
  /** The script's name in traces: `lock.acquire`. */
  name: string | undefined;
  /** The beginnings of EVALSHA commands, by the number of their operands. */
  readonly #heads: string[] = [];

  constructor(
    /** The text as it is written: the step of one run. */
    readonly step: string,
    /** Whether one command may carry several runs: each run brings all keys of the script, and its step depends on no other run. */
    private readonly batchable?: 'batchable',
  ) {
    this.keys = declared(step, 'KEYS');
    this.args = declared(step, 'ARGV');
    this.source = batchable ? batchedSource(step, this.keys, this.args) : step;
    this.sha = createHash('sha1').update(this.source).digest('hex');
  }

  /** The arguments that tracing sees: the hash and the name, but no key and no holder id. */
  get traced(): readonly string[] {
    return this.name === undefined ? [this.sha] : [this.sha, this.name];
  }

  /**
   * The keys in the order of the script.
   * @throws TypeError for a key that the caller does not name: a script would write to `undefined`.
   */
  keyList(keys: Readonly<Record<string, string>>): KeyList {
    const missing = this.keys.find((name) => keys[name] === undefined);
    if (missing !== undefined) throw new TypeError(`Script ${this.name} needs a key "${missing}".`);
    return new KeyList(this.keys.map((name) => keys[name]!));
  }

  /** The operands that the script declares, in its order; undefined ones at the end are left out: the script finds nil. */
  argList(args: Operands): Operand[] {
    let last = this.args.length;
    while (last > 0 && args[this.args[last - 1]!] === undefined) last -= 1;
    const list: Operand[] = [];
    for (let at = 0; at < last; at += 1) list.push(args[this.args[at]!] ?? '');
    return list;
  }

  /** Whether the run `added` may leave in the command of `run`. */
  joins(run: ScriptRun<unknown>, added: ScriptRun<unknown>): boolean {
    return this.batchable !== undefined && added.args.length === run.args.length;
  }

  /** The EVALSHA, or EVAL, of these runs, as it goes over the wire. */
  encoded(runs: readonly { readonly run: ScriptRun<unknown> }[], byText: boolean): string {
    let names = '';
    let operands = '';
    for (const { run } of runs) {
      names += run.keys.names;
      for (const arg of run.args) operands += bulk(arg);
    }
    const { run } = runs[0]!;
    const width = runs.length * run.keys.keys.length; // one run may have several locks
    const head = this.head(width + runs.length * run.args.length, byText);
    return `${head}${bulk(width)}${names}${operands}`;
  }

  /** The beginning of an EVALSHA, or EVAL, with that number of operands. */
  protected head(operands: number, byText: boolean): string {
    if (byText) return `*${operands + 3}\r\n${bulk('eval')}${bulk(this.source)}`;
    return (this.#heads[operands] ??= `*${operands + 3}\r\n${bulk('evalsha')}${bulk(this.sha)}`);
  }

  /** The operands behind the script, for a single run that ioredis encodes. */
  operands({ keys: { keys }, args }: ScriptRun<unknown>): Operand[] {
    return [keys.length, ...keys, ...args];
  }

  /** The answer to one run, from the reply to `runs` that left together. */
  replyTo(nth: number, runs: number, reply: unknown): unknown {
    return runs > 1 ? (Array.isArray(reply) ? (reply as unknown[])[nth] : undefined) : reply;
  }
}

/** A line of a step that makes a table for all runs of a command. */
const SHARED = /^local [A-Z]+ = \{.*\}$/gm;

/**
 * A script that takes the step of one run, or of several with equally many operands. For several, it answers with a list of
 * their answers and errors. A table that the step names in capitals is one for all. Both forms are one text: a server that
 * lacks it lacks it for all, so no run overtakes another.
 */
function batchedSource(written: string, keys: readonly string[], args: readonly string[]): string {
  const step = written.replaceAll(declarations('KEYS|ARGV'), '');
  const width = keys.length;
  if (/\b(?:KEYS|ARGV)\b/.test(step))
    throw new TypeError('A script that counts its operands cannot be merged.');
  // Redis 6 raises an error as a text, Redis 7 as a table that can be an answer.
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

/** The table of scripts, each named after its field unless it has a name: `lock.acquire`. A text becomes a script. */
export function named<Scripts extends Readonly<Record<string, LuaScript | string>>>(
  table: string,
  scripts: Scripts,
): { [Field in keyof Scripts]: Scripts[Field] extends LuaScript ? Scripts[Field] : LuaScript } {
  const all = Object.entries(scripts).map(([field, text]) => {
    const script = typeof text === 'string' ? new LuaScript(text) : text;
    script.name ??= `${table}.${field}`;
    return [field, script];
  });
  return Object.fromEntries(all) as ReturnType<typeof named<Scripts>>;
}
