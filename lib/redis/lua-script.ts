import { createHash } from 'node:crypto';

/** Operands at the end may be left out: the script finds nil. */
type Operands<Name extends string> = Readonly<Record<Name, string | number | undefined>>;

/** What follows a script in EVALSHA: how many keys, the keys, the arguments. */
export type Operand = string | number;

/**
 * A Lua script whose operands are passed by name. The names are declared in the script itself,
 * `local lock, fence = KEYS[1], KEYS[2]`; a list here that differs from it fails at import.
 */
export class LuaScript<Key extends string, Arg extends string> {
  readonly sha: string;

  constructor(
    readonly source: string,
    readonly keys: readonly Key[],
    readonly args: readonly Arg[],
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
  }

  operands(keys: Operands<Key>, args: Operands<Arg>): Operand[] {
    const list: Operand[] = [this.keys.length];
    for (const name of this.keys) list.push(keys[name]!);
    let last = this.args.length;
    while (last > 0 && args[this.args[last - 1]!] === undefined) last -= 1;
    for (let at = 0; at < last; at += 1) list.push(args[this.args[at]!] ?? '');
    return list;
  }

  /** For a script that loops over `#KEYS`: its operands once a turn. */
  operandsOfTurns(turns: readonly (readonly [Operands<Key>, Operands<Arg>])[]): Operand[] {
    const list: Operand[] = [this.keys.length * turns.length];
    for (const [keys] of turns) for (const name of this.keys) list.push(keys[name]!);
    for (const [, args] of turns) for (const name of this.args) list.push(args[name]!);
    return list;
  }

  static declared(source: string, table: 'KEYS' | 'ARGV'): string[] {
    const lines = source.matchAll(new RegExp(`^\\s*local ([\\w, ]+) = ${table}\\[`, 'gm'));
    return [...lines].flatMap(([, names]) => names!.split(', '));
  }
}
