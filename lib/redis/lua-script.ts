import { createHash } from 'node:crypto';
import { BatchedScript } from './batched-script.js';
import { bulk, evalHead, KeyList, type Operand } from './resp.js';

/** The lines in which a script declares its operands. */
function declarations(table: 'KEYS' | 'ARGV' | 'KEYS|ARGV'): RegExp {
  return new RegExp(`^\\s*local ([\\w, ]+) = (?:${table})\\[.*$`, 'gm');
}

/** Operands at the end may be left out: the script finds nil. */
type Operands<Name extends string> = Readonly<Record<Name, Operand | undefined>>;

/**
 * A Lua script whose operands are passed by name. The names are declared in the script itself,
 * `local lock, fence = KEYS[1], KEYS[2]`; a list here that differs from it fails at import.
 */
export class LuaScript<Key extends string, Arg extends string> {
  readonly sha: string;
  /** What tracing sees of a call: no holder id. */
  readonly traced: readonly string[];
  /** The beginning of an EVALSHA, by the number of its operands. */
  readonly #heads: string[] = [];
  /** For several runs at once, if they may leave as one. */
  readonly batched: BatchedScript | undefined;

  constructor(
    readonly source: string,
    readonly keys: readonly Key[],
    readonly args: readonly Arg[],
    /** Whether runs of it may leave as one: it has these keys once, and each step stands for itself. */
    { batchable = false }: { readonly batchable?: boolean } = {},
  ) {
    for (const [table, names] of [
      ['KEYS', keys],
      ['ARGV', args],
    ] as const) {
      const declared = LuaScript.declared(source, table).join(', ');
      if (declared !== names.join(', ')) {
        throw new TypeError(
          `The script declares ${table} "${declared}", not "${names.join(', ')}".`,
        );
      }
    }
    this.sha = createHash('sha1').update(source).digest('hex');
    this.traced = [this.sha];
    if (batchable) {
      const step = source.replaceAll(declarations('KEYS|ARGV'), '');
      this.batched = new BatchedScript(step, keys, args);
    }
  }

  /** The keys in the order of the script. */
  keyList(keys: Readonly<Record<Key, string>>): KeyList {
    return new KeyList(this.keys.map((name) => keys[name]));
  }

  argList(args: Operands<Arg>): Operand[] {
    let last = this.args.length;
    while (last > 0 && args[this.args[last - 1]!] === undefined) last -= 1;
    const list: Operand[] = [];
    for (let at = 0; at < last; at += 1) list.push(args[this.args[at]!] ?? '');
    return list;
  }

  /** The EVALSHA, or EVAL, as it goes over the wire. */
  wire(keys: KeyList, args: readonly Operand[], byText = false): string {
    const operands = keys.keys.length + args.length;
    let wire = (byText ? evalHead(operands, this.source) : this.#head(operands)) + keys.wire;
    for (const arg of args) wire += bulk(arg);
    return wire;
  }

  #head(operands: number): string {
    return (this.#heads[operands] ??= `*${operands + 3}\r\n${bulk('evalsha')}${bulk(this.sha)}`);
  }

  static declared(source: string, table: 'KEYS' | 'ARGV'): string[] {
    return [...source.matchAll(declarations(table))].flatMap(([, names]) => names!.split(', '));
  }
}
