import luaparse, { type Node } from 'luaparse';
import { MergedScript, LuaScript } from '../../lib/engine/redis/index.js';

/**
 * What a script does wrongly, said of what it is promised to do and not of how it is written: of what it says to Redis, of
 * what it was passed, of its named functions. All values are Lua; the operands of the script go by their names.
 */
export interface Slip {
  /** By command and key, `GET lock`, or by command alone: what happens instead. `right(...)` sends the true one, as does no `return`. `kept` is a table for all of them. */
  readonly commands?: Readonly<Record<string, string>>;
  /** By name: what was passed instead. */
  readonly operands?: Readonly<Record<string, string>>;
  /** By name: another function, made of the `right` one. */
  readonly functions?: Readonly<Record<string, string>>;
}

/** Another script, with the slip in it; throws if the script has no part that the slip names. */
export function slipped(
  name: string,
  script: LuaScript,
  { commands = {}, operands = {}, functions = {} }: Slip,
): LuaScript {
  const { step: source, keys, args } = script;
  const parts = partsOf(source);
  const has = (what: string, found: boolean): void => {
    if (!found) throw new Error(`${name}.lua has no ${what}.`);
  };
  for (const command of Object.keys(commands)) {
    has(`command "${command}"`, parts.commands.has(command));
  }
  for (const operand of Object.keys(operands)) {
    has(`operand "${operand}"`, [...keys, ...args].includes(operand));
  }
  const inserts = Object.entries(functions).map(([named, text]) => {
    const end = parts.functions.get(named);
    has(`function "${named}"`, end !== undefined);
    return { at: end!, text: `\n${named} = (function(right) return ${text} end)(${named})\n` };
  });
  for (const [operand, text] of Object.entries(operands)) {
    inserts.push({ at: endOfOperands(source, operand), text: `\n${operand} = ${text}\n` });
  }
  inserts.push({ at: endOfOperands(source), text: `\n${redisWith(commands)}\n` });

  let edited = source;
  for (const { at, text } of inserts.sort((a, b) => b.at - a.at)) {
    edited = edited.slice(0, at) + text + edited.slice(at);
  }
  return script instanceof MergedScript ? new MergedScript(edited) : new LuaScript(edited);
}

/** A `redis` of its own for what follows, in which some commands are others. */
function redisWith(commands: Readonly<Record<string, string>>): string {
  if (Object.keys(commands).length === 0) return '';
  const instead = Object.entries(commands).map(([named, body]) => {
    const [command, key] = named.split(' ');
    return `if said == '${command}'${key ? ` and about == ${key}` : ''} then ${body} end`;
  });
  const through = `function(right) return function(...) local said, about = ... ${instead.join(' ')} return right(...) end end`;
  return `local redis = (function(redis, kept)
  local through = ${through}
  return setmetatable({ call = through(redis.call), pcall = through(redis.pcall) }, { __index = redis })
end)(redis, {})`;
}

/** Where the script has named what it was passed: this operand, or all. */
function endOfOperands(source: string, operand = ''): number {
  const declared = [...source.matchAll(/^\s*local ([\w, ]+) = (?:KEYS|ARGV)\[.*$/gm)];
  const { index, 0: line } = declared.findLast(([, names]) => names!.includes(operand))!;
  return index + line.length;
}

/** What a script says to Redis, and where the definition of each of its functions ends. */
function partsOf(source: string): { commands: Set<string>; functions: Map<string, number> } {
  const commands = new Set<string>();
  const functions = new Map<string, number>();
  const tree = luaparse.parse(source, { ranges: true, luaVersion: '5.1', comments: false });
  for (const node of nodesOf(tree)) {
    if (node.type === 'FunctionDeclaration') {
      const named = node['identifier'] as Node | null;
      if (named) functions.set(String(named['name']), node.range[1]);
    } else if (node.type === 'CallExpression') {
      const [command, key] = node['arguments'] as Node[];
      if (command?.type !== 'StringLiteral') continue;
      const said = String(command['raw']).slice(1, -1);
      commands.add(said);
      if (key?.type === 'Identifier') commands.add(`${said} ${String(key['name'])}`);
    }
  }
  return { commands, functions };
}

function* nodesOf(value: unknown): Generator<Node> {
  if (!value || typeof value !== 'object') return;
  if ('type' in value) yield value as Node;
  for (const part of Object.values(value)) yield* nodesOf(part);
}
