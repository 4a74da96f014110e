import { BoundedCache } from '../../engine/options/index.js';
import { LuaError } from './values.js';

/** The character classes of Lua, as they are written between brackets of a regular expression. */
const CLASSES: Readonly<Record<string, string>> = {
  a: 'A-Za-z',
  d: '0-9',
  s: String.raw`\s`,
  S: String.raw`\S`,
  w: 'A-Za-z0-9',
};

const PART = /%(?<escaped>.)|\[(?<set>(?:\^?\]?)(?:%.|[^\]])*)\]|(?<sign>.)/gs;

const known = new BoundedCache(translated);

/** Translates a pattern of Lua into a regular expression, as far as our scripts use patterns. */
export function expressionOf(pattern: string): RegExp {
  return known.get(pattern);
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

/** @throws LuaError for an unknown class. */
function literal(sign: string): string {
  if (/\w/.test(sign)) throw new LuaError(`A pattern has the class %${sign}, which is not known.`);
  return `\\${sign}`;
}
