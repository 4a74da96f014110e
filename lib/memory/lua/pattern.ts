import { LuaError } from './values.js';

/** What a class of Lua stands for between the brackets of a regular expression. */
const CLASSES: Readonly<Record<string, string>> = {
  a: 'A-Za-z',
  d: '0-9',
  s: String.raw`\s`,
  S: String.raw`\S`,
  w: 'A-Za-z0-9',
};

const PART = /%(?<escaped>.)|\[(?<set>(?:\^?\]?)(?:%.|[^\]])*)\]|(?<sign>.)/gs;

const known = new Map<string, RegExp>();

/** A pattern of Lua as a regular expression. Of patterns it knows what our scripts use. */
export function expressionOf(pattern: string): RegExp {
  let made = known.get(pattern);
  if (!made) known.set(pattern, (made = translated(pattern)));
  return made;
}

function translated(pattern: string): RegExp {
  const text = pattern.replaceAll(PART, (part, escaped?: string, set?: string) => {
    if (escaped !== undefined) return classOf(escaped);
    if (set !== undefined) return `[${set.replaceAll(/%(.)|\\/gs, inSet)}]`;
    if (part === '-') return '*?';
    return /[\\|{}]/.test(part) ? literal(part) : part;
  });
  return new RegExp(text, 's');
}

function classOf(name: string): string {
  return name in CLASSES ? `[${CLASSES[name]}]` : literal(name);
}

function inSet(part: string, escaped?: string): string {
  return escaped === undefined ? literal(part) : (CLASSES[escaped] ?? literal(escaped));
}

/** @throws LuaError for a class that is not known. */
function literal(sign: string): string {
  if (/\w/.test(sign)) throw new LuaError(`A pattern has the class %${sign}, which is not known.`);
  return `\\${sign}`;
}
