/** A value of a script; undefined is Lua's nil. */
export type LuaValue = undefined | boolean | number | string | LuaTable | LuaFunction;
export type LuaFunction = (args: readonly LuaValue[]) => LuaValue[];

/** The error of a script that Lua refuses, or that uses an unknown part of Lua. */
export class LuaError extends Error {
  override readonly name = 'LuaError';
}

/** A table: the values at 1, 2, 3 … form a list, all others are fields by key. */
export class LuaTable {
  readonly fields = new Map<LuaValue, LuaValue>();

  constructor(readonly list: LuaValue[] = []) {}

  static of(fields: Readonly<Record<string, LuaValue>>): LuaTable {
    const table = new LuaTable();
    for (const [name, value] of Object.entries(fields)) table.fields.set(name, value);
    return table;
  }

  get(key: LuaValue): LuaValue {
    return typeof key === 'number' && key >= 1 && key <= this.list.length
      ? this.list[key - 1]
      : this.fields.get(key);
  }

  set(key: LuaValue, value: LuaValue): void {
    const { list, fields } = this;
    if (typeof key === 'number' && key >= 1 && key <= list.length) list[key - 1] = value;
    else if (key !== list.length + 1) fields.set(key, value);
    else {
      list.push(value);
      for (let next = key + 1; fields.has(next); next += 1) {
        list.push(fields.get(next));
        fields.delete(next);
      }
    }
    while (list.length > 0 && list.at(-1) === undefined) list.pop();
  }

  get length(): number {
    return this.list.length;
  }
}

export function isTrue(value: LuaValue): boolean {
  return value !== undefined && value !== false;
}

export function typeOf(value: LuaValue): string {
  if (value === undefined) return 'nil';
  return value instanceof LuaTable ? 'table' : typeof value;
}

/** Formats a number as C's `%.<digits>g` does. */
export function general(value: number, digits: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 10 ** Math.min(digits, 15)) {
    return String(value);
  }
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  const [mantissa, exponent] = value.toExponential(digits - 1).split('e') as [string, string];
  const power = Number(exponent);
  const short = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);
  if (power >= -4 && power < digits) return short(value.toFixed(digits - 1 - power));
  const sign = power < 0 ? '-' : '+';
  return `${short(mantissa)}e${sign}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** Converts a value to a text, as `..` and `tostring` do. @throws LuaError for a value without a text. */
export function textOf(value: LuaValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return general(value, 14);
  throw new LuaError(`A ${typeOf(value)} has no text.`);
}

const NUMBER = /^\s*[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?|0x[\da-f]+)\s*$/i;

/** Converts a value to a number, as `tonumber` does; undefined if that is impossible. */
export function numberOf(value: LuaValue, base = 10): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  if (base !== 10) return /^[\da-f]+$/i.test(value) ? Number.parseInt(value, base) : undefined;
  return NUMBER.test(value) ? Number(value) : undefined;
}

/** Converts an operand of arithmetic: a number, or its text. @throws LuaError for any other value. */
export function operand(value: LuaValue): number {
  const number = typeof value === 'number' ? value : numberOf(value);
  if (number === undefined) throw new LuaError(`A ${typeOf(value)} is no number.`);
  return number;
}
