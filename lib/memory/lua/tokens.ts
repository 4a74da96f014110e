import { LuaError } from './values.js';

/** A word of a script; a keyword or a sign is its own kind. */
export interface Token {
  readonly kind: string;
  readonly text: string;
}

const KEYWORDS = new Set(
  'and break do else elseif end false for function if in local nil not or return then true while'.split(
    ' ',
  ),
);
const TOKEN =
  /(?<gap>\s+|--[^\n]*)|(?<name>[A-Za-z_]\w*)|(?<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(?<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?<sign>\.\.\.|\.\.|[=~<>]=|[-+*/%^#<>=(){}[\];,.])/y;

/** The words of a script; the last one is the `end of script`. */
export function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  const next = new RegExp(TOKEN);
  while (next.lastIndex < source.length) {
    const at = next.lastIndex;
    const found = next.exec(source)?.groups;
    if (!found) throw new LuaError(`The script cannot be read at "${source.slice(at, at + 20)}".`);
    const { name, number, string, sign } = found;
    if (name !== undefined) tokens.push({ kind: KEYWORDS.has(name) ? name : 'name', text: name });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (string !== undefined) tokens.push({ kind: 'string', text: unquoted(string) });
    else if (sign !== undefined) tokens.push({ kind: sign, text: sign });
  }
  return [...tokens, { kind: 'end of script', text: '' }];
}

function unquoted(string: string): string {
  return string.slice(1, -1).replaceAll(/\\(.)/gs, (_, sign: string) => {
    return sign === 'n' ? '\n' : sign;
  });
}
