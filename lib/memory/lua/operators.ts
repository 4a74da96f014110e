import { isTrue, LuaError, LuaTable, type LuaValue, operand, textOf, typeOf } from './values.js';

/** Applies an operator to two values. */
type Binary = (left: LuaValue, right: LuaValue) => LuaValue;

/** A binary operator; `left` and `right` are its binding powers on either side. */
export interface Operator {
  readonly left: number;
  readonly right: number;
  readonly apply: Binary;
  /** True for a first operand that is the result: the second one is not evaluated. */
  readonly decides?: (first: LuaValue) => boolean;
}

function arithmetic(
  power: number,
  apply: (left: number, right: number) => number,
  right?: number,
): Operator {
  return operator(power, (one, other) => apply(operand(one), operand(other)), right);
}

function comparison(apply: (order: number) => boolean): Operator {
  return operator(3, (left, right) => {
    const type = typeof left;
    if (type !== typeof right || (type !== 'number' && type !== 'string')) {
      throw new LuaError(`A ${typeOf(left)} cannot be compared with a ${typeOf(right)}.`);
    }
    return apply(left! < right! ? -1 : left! > right! ? 1 : left === right ? 0 : Number.NaN);
  });
}

function operator(left: number, apply: Binary, right = left): Operator {
  return { left, right, apply };
}

export const OPERATORS: Readonly<Record<string, Operator>> = {
  or: { ...operator(1, (_, second) => second), decides: isTrue },
  and: { ...operator(2, (_, second) => second), decides: (first) => !isTrue(first) },
  '==': operator(3, (left, right) => left === right),
  '~=': operator(3, (left, right) => left !== right),
  '<': comparison((order) => order < 0),
  '<=': comparison((order) => order <= 0),
  '>': comparison((order) => order > 0),
  '>=': comparison((order) => order >= 0),
  '..': operator(5, (left, right) => textOf(left) + textOf(right), 4),
  '+': arithmetic(6, (left, right) => left + right),
  '-': arithmetic(6, (left, right) => left - right),
  '*': arithmetic(7, (left, right) => left * right),
  '/': arithmetic(7, (left, right) => left / right),
  '%': arithmetic(7, (left, right) => left - Math.floor(left / right) * right),
  '^': arithmetic(10, (left, right) => left ** right, 9),
};

/** The binding power of unary operators. */
export const UNARY = 8;

export const UNARIES: Readonly<Record<string, (value: LuaValue) => LuaValue>> = {
  not: (value) => !isTrue(value),
  '-': (value) => -operand(value),
  '#': (value) => {
    if (value instanceof LuaTable || typeof value === 'string') return value.length;
    throw new LuaError(`A ${typeOf(value)} has no length.`);
  },
};
