import { createHash } from 'node:crypto';

type Operands<Name extends string> = Readonly<Record<Name, string | number>>;

/**
 * A Lua script whose operands are passed by name. The names are declared in the script itself,
 * `local lock, fence = KEYS[1], KEYS[2]`; a list here that differs from it fails at import.
 * Operands of a script that loops over `#KEYS` are passed as one record per turn.
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

  keyList(...turns: Operands<Key>[]): string[] {
    return turns.flatMap((turn) => this.keys.map((name) => String(turn[name])));
  }

  argList(...turns: Operands<Arg>[]): (string | number)[] {
    return turns.flatMap((turn) => this.args.map((name) => turn[name]));
  }

  static declared(source: string, table: 'KEYS' | 'ARGV'): string[] {
    const lines = source.matchAll(new RegExp(`^\\s*local ([\\w, ]+) = ${table}\\[`, 'gm'));
    return [...lines].flatMap(([, names]) => names!.split(', '));
  }
}
