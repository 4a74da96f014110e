import { OPERATORS, UNARIES, UNARY } from './operators.js';
import { type Frame, Scope } from './scope.js';
import type { Token } from './tokens.js';
import { LuaError, LuaTable, type LuaValue, typeOf } from './values.js';

/** An expression of a script, as functions that evaluate it in a frame. */
export interface Expression {
  readonly one: (frame: Frame) => LuaValue;
  /** For a call: all of its results. */
  readonly all?: (frame: Frame) => LuaValue[];
  /** For an assignable expression: returns its setter, evaluated before the values, which may change the key. */
  readonly place?: (frame: Frame) => (value: LuaValue) => void;
}

/** Reads the expressions of a script, word by word, into functions that run them. */
export abstract class ExpressionReader {
  #at = 0;
  protected scope = new Scope();

  constructor(private readonly tokens: readonly Token[]) {}

  /** Reads a function after the word `function`: its parameters, its body and its `end`. */
  protected abstract function(): Expression;

  /** The kind of the next word. */
  protected get next(): string {
    return this.tokens[this.#at]!.kind;
  }

  /** Consumes and returns the next word, if it is of this kind. */
  protected accept(kind: string): string | undefined {
    if (this.next !== kind) return undefined;
    this.#at += 1;
    return this.tokens[this.#at - 1]!.text;
  }

  protected expect(kind: string): string {
    const text = this.accept(kind);
    if (text !== undefined) return text;
    throw new LuaError(`The script has "${this.next}" where "${kind}" was expected.`);
  }

  /** Reads one or more parts, separated by commas. */
  protected list<Part>(part: () => Part): Part[] {
    const parts = [part()];
    while (this.accept(',') !== undefined) parts.push(part());
    return parts;
  }

  protected expressions(): (frame: Frame) => LuaValue[] {
    return valuesOf(this.list(() => this.expression()));
  }

  protected expression(): Expression {
    return this.#operation(0);
  }

  /** Reads operators that bind more tightly than `limit`, with their operands. */
  #operation(limit: number): Expression {
    let left = this.#unary();
    for (;;) {
      const operator = OPERATORS[this.next];
      if (!operator || operator.left <= limit) return left;
      this.expect(this.next);
      const { apply, decides } = operator;
      const [first, second] = [left.one, this.#operation(operator.right).one];
      left = {
        one: (frame) => {
          const value = first(frame);
          return decides?.(value) ? value : apply(value, second(frame));
        },
      };
    }
  }

  #unary(): Expression {
    const apply = UNARIES[this.next];
    if (!apply) return this.#simple();
    this.expect(this.next);
    const { one } = this.#operation(UNARY);
    return { one: (frame) => apply(one(frame)) };
  }

  #simple(): Expression {
    const { next } = this;
    if (next === '{') return this.#table();
    if (next === 'name' || next === '(') return this.suffixed();
    const text = this.expect(next);
    if (next === 'function') return this.function();
    const value = literal(next, text);
    return { one: () => value };
  }

  /** Reads a name or a parenthesised expression, with the fields and calls behind it. */
  protected suffixed(): Expression {
    let found = this.#head();
    for (;;) {
      if (this.accept('.') !== undefined) {
        const name = this.expect('name');
        found = field(found, () => name);
      } else if (this.accept('[') !== undefined) {
        const { one } = this.expression();
        this.expect(']');
        found = field(found, one);
      } else if (this.accept('(') !== undefined) {
        found = call(found, this.next === ')' ? () => [] : this.expressions());
        this.expect(')');
      } else {
        return found;
      }
    }
  }

  #head(): Expression {
    if (this.accept('(') !== undefined) {
      const { one } = this.expression();
      this.expect(')');
      return { one };
    }
    const name = this.expect('name');
    const place = this.scope.find(name);
    if (!place) throw new LuaError(`The script names "${name}", which is not known here.`);
    const { depth, slot } = place;
    return {
      one: (frame) => outer(frame, depth).slots[slot],
      place: (frame) => {
        const { slots } = outer(frame, depth);
        return (value) => void (slots[slot] = value);
      },
    };
  }

  #table(): Expression {
    const items: Expression[] = [];
    const fields: [name: string, value: Expression][] = [];
    this.expect('{');
    while (this.accept('}') === undefined) {
      if (this.tokens[this.#at + 1]!.kind === '=') {
        const name = this.expect('name');
        this.expect('=');
        fields.push([name, this.expression()]);
      } else {
        items.push(this.expression());
      }
      if (this.next !== '}') this.expect(',');
    }
    const values = valuesOf(items);
    return {
      one: (frame) => {
        const table = new LuaTable(values(frame));
        for (const [name, { one }] of fields) table.fields.set(name, one(frame));
        return table;
      },
    };
  }
}

/** Evaluates a list of expressions; if the last one is a call, all of its results are values. */
function valuesOf(list: readonly Expression[]): (frame: Frame) => LuaValue[] {
  const ones = list.map(({ one }) => one);
  const last = list.at(-1)?.all;
  if (!last) return (frame) => ones.map((one) => one(frame));
  ones.pop();
  return (frame) => [...ones.map((one) => one(frame)), ...last(frame)];
}

function literal(kind: string, text: string): LuaValue {
  if (kind === 'string') return text;
  if (kind === 'number') return Number(text);
  if (kind === 'true' || kind === 'false') return kind === 'true';
  if (kind === 'nil') return undefined;
  throw new LuaError(`The script has "${kind}" where a value was expected.`);
}

function outer(frame: Frame, depth: number): Frame {
  let found = frame;
  for (let left = depth; left > 0; left -= 1) found = found.outer!;
  return found;
}

function field({ one }: Expression, key: (frame: Frame) => LuaValue): Expression {
  const table = (frame: Frame): LuaTable => {
    const value = one(frame);
    if (value instanceof LuaTable) return value;
    throw new LuaError(`A ${typeOf(value)} has no fields.`);
  };
  return {
    one: (frame) => table(frame).get(key(frame)),
    place: (frame) => {
      const [found, name] = [table(frame), key(frame)];
      return (value) => found.set(name, value);
    },
  };
}

function call({ one }: Expression, operands: (frame: Frame) => LuaValue[]): Expression {
  const all = (frame: Frame): LuaValue[] => {
    const called = one(frame);
    if (typeof called === 'function') return called(operands(frame));
    throw new LuaError(`A ${typeOf(called)} cannot be called.`);
  };
  return { one: (frame) => all(frame)[0], all };
}
