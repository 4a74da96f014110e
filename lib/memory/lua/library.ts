import { expressionOf } from './pattern.js';
import {
  LuaError,
  type LuaFunction,
  LuaTable,
  type LuaValue,
  numberOf,
  operand,
  textOf,
  typeOf,
} from './values.js';

/** A function that returns one value. */
function one(apply: (...args: LuaValue[]) => LuaValue): LuaFunction {
  return (args) => [apply(...args)];
}

function listOf(table: LuaValue): readonly LuaValue[] {
  if (table instanceof LuaTable) return table.list;
  throw new LuaError(`A ${typeOf(table)} is no table.`);
}

/** The part of a text between two positions, counted from 1, or from the end if negative. */
function sub(text: string, from: number, to = -1): string {
  const end = to < 0 ? to + 1 : to;
  return text.slice(from > 0 ? from - 1 : from, to === -1 ? undefined : end);
}

function find(args: readonly LuaValue[]): LuaValue[] {
  const [text, pattern] = [textOf(args[0]), textOf(args[1])];
  const from = operand(args[2] ?? 1) - 1;
  if (args[3] === true) {
    const at = text.indexOf(pattern, from);
    return at < 0 ? [undefined] : [at + 1, at + pattern.length];
  }
  const found = expressionOf(pattern).exec(text.slice(from));
  if (!found) return [undefined];
  const at = from + found.index;
  return [at + 1, at + found[0].length, ...found.slice(1)];
}

function match(args: readonly LuaValue[]): LuaValue[] {
  const text = textOf(args[0]).slice(operand(args[2] ?? 1) - 1);
  return captured(expressionOf(textOf(args[1])).exec(text));
}

/** The captures of a match, or all of it if the pattern has none. */
function captured(found: RegExpExecArray | null | undefined): LuaValue[] {
  if (!found) return [undefined];
  return found.length > 1 ? found.slice(1) : [found[0]];
}

function gmatch([text, pattern]: readonly LuaValue[]): LuaValue[] {
  const { source, flags } = expressionOf(textOf(pattern));
  const all = textOf(text).matchAll(new RegExp(source, `${flags}g`));
  return [() => captured(all.next().value)];
}

function format(text: LuaValue, ...values: LuaValue[]): string {
  let at = 0;
  return textOf(text).replaceAll(
    /%(0?)(\d*)(?:\.(\d+))?([dfs%])/g,
    (_, zero: string, width: string, digits: string | undefined, kind: string) => {
      if (kind === '%') return '%';
      const value = values[at];
      at += 1;
      if (kind === 's') return textOf(value);
      const number = operand(value);
      const shown =
        kind === 'd' ? String(BigInt(Math.trunc(number))) : rounded(number, Number(digits ?? 6));
      return shown.padStart(Number(width), zero === '0' ? '0' : ' ');
    },
  );
}

/** As C's `%.<digits>f`: half to even, and without an exponent. */
function rounded(number: number, digits: number): string {
  if (digits > 0) return number.toFixed(digits);
  const floor = Math.floor(number);
  const rest = number - floor;
  const up = rest > 0.5 || (rest === 0.5 && floor % 2 !== 0);
  return String(BigInt(up ? floor + 1 : floor));
}

const step: LuaFunction = ([table, at]) => {
  const next = operand(at) + 1;
  const value = (table as LuaTable).get(next);
  return value === undefined ? [undefined] : [next, value];
};

/** The globals of a script, beside its keys, its operands and `redis`: the part of Lua's library that our scripts use. */
export const LIBRARY: Readonly<Record<string, LuaValue>> = {
  ipairs: ([table]) => [step, table, 0],
  tonumber: one((value, base) => numberOf(value, base === undefined ? 10 : operand(base))),
  type: one(typeOf),
  unpack: ([table, from, to]) =>
    listOf(table).slice(operand(from ?? 1) - 1, to === undefined ? undefined : operand(to)),
  math: LuaTable.of({
    abs: one((value) => Math.abs(operand(value))),
    ceil: one((value) => Math.ceil(operand(value))),
    floor: one((value) => Math.floor(operand(value))),
    max: one((...values) => Math.max(...values.map(operand))),
    min: one((...values) => Math.min(...values.map(operand))),
  }),
  string: LuaTable.of({
    find,
    format: one(format),
    gmatch,
    match,
    sub: one((text, from, to) =>
      sub(textOf(text), operand(from), to === undefined ? undefined : operand(to)),
    ),
  }),
  table: LuaTable.of({
    sort: one((table) => {
      (listOf(table) as LuaValue[]).sort((one, other) => (textOf(one) < textOf(other) ? -1 : 1));
      return undefined;
    }),
    concat: one((table, between) =>
      listOf(table)
        .map(textOf)
        .join(textOf(between ?? '')),
    ),
  }),
};
