import { type Expression, ExpressionReader } from './expressions.js';
import { type Frame, Scope } from './scope.js';
import { tokensOf } from './tokens.js';
import { isTrue, LuaError, type LuaFunction, type LuaValue, operand } from './values.js';

/** Runs a statement. Returns the values of a `return`, or BREAK for a `break`. */
type Statement = (frame: Frame) => LuaValue[] | undefined;

const BREAK: LuaValue[] = [];
const ENDS = ['end', 'else', 'elseif', 'end of script'];

/**
 * Compiles a script into a function whose parameters are `names`: its only names from outside. The compiler knows the part of
 * Lua that our scripts use; any other word is an error.
 */
export function compile(source: string, names: readonly string[]): LuaFunction {
  return new ScriptReader(tokensOf(source)).script(names);
}

class ScriptReader extends ExpressionReader {
  script(names: readonly string[]): LuaFunction {
    const slots = names.map((name) => this.scope.declare(name));
    const body = this.#block();
    this.expect('end of script');
    return called(slots, body, undefined);
  }

  protected function(): Expression {
    this.expect('(');
    const scope = this.scope;
    this.scope = new Scope(scope);
    const names = this.next === ')' ? [] : this.list(() => this.expect('name'));
    this.expect(')');
    const slots = names.map((name) => this.scope.declare(name));
    const body = this.#blockTo('end');
    this.scope = scope;
    return { one: (frame) => called(slots, body, frame) };
  }

  #blockTo(end: string): Statement {
    const block = this.#block();
    this.expect(end);
    return block;
  }

  #block(): Statement {
    const statements: Statement[] = [];
    this.scope.open();
    while (!ENDS.includes(this.next)) statements.push(this.#statement());
    this.scope.close();
    return (frame) => {
      for (const statement of statements) {
        const end = statement(frame);
        if (end) return end;
      }
      return undefined;
    };
  }

  #statement(): Statement {
    if (this.accept('local') !== undefined) return this.#local();
    if (this.accept('if') !== undefined) return this.#if();
    if (this.accept('for') !== undefined) return this.#for();
    if (this.accept('while') !== undefined) return this.#while();
    if (this.accept('break') !== undefined) return () => BREAK;
    if (this.accept('return') !== undefined) {
      return ENDS.includes(this.next) ? () => [] : this.expressions();
    }
    return this.#assignment();
  }

  #local(): Statement {
    if (this.accept('function') !== undefined) {
      const slot = this.scope.declare(this.expect('name')); // the function is declared before its body, which may call it
      const { one } = this.function();
      return (frame) => void (frame.slots[slot] = one(frame));
    }
    const names = this.list(() => this.expect('name'));
    const values = this.accept('=') === undefined ? (): LuaValue[] => [] : this.expressions();
    const slots = names.map((name) => this.scope.declare(name)); // the names are declared after their values, which do not see them
    return (frame) => {
      const found = values(frame);
      for (const [at, slot] of slots.entries()) frame.slots[slot] = found[at];
    };
  }

  #if(): Statement {
    const test = this.expression().one;
    this.expect('then');
    const then = this.#block();
    let otherwise: Statement = () => undefined;
    if (this.accept('elseif') !== undefined) otherwise = this.#if();
    else if (this.accept('else') !== undefined) otherwise = this.#blockTo('end');
    else this.expect('end');
    return (frame) => (isTrue(test(frame)) ? then(frame) : otherwise(frame));
  }

  #while(): Statement {
    const test = this.expression().one;
    this.expect('do');
    const body = this.#blockTo('end');
    return (frame) => {
      while (isTrue(test(frame))) {
        const end = body(frame);
        if (end) return end === BREAK ? undefined : end;
      }
      return undefined;
    };
  }

  #for(): Statement {
    const names = this.list(() => this.expect('name'));
    const counts = this.accept('=') !== undefined;
    if (!counts) this.expect('in');
    const values = this.expressions();
    this.expect('do');
    this.scope.open();
    const slots = names.map((name) => this.scope.declare(name));
    const body = this.#blockTo('end');
    this.scope.close();
    const rounds = counts ? counted : iterated;
    return (frame) => {
      for (const round of rounds(values(frame))) {
        for (const [at, slot] of slots.entries()) frame.slots[slot] = round[at];
        const end = body(frame);
        if (end) return end === BREAK ? undefined : end;
      }
      return undefined;
    };
  }

  #assignment(): Statement {
    const targets = this.list(() => this.suffixed());
    const [first] = targets;
    if (this.accept('=') === undefined) {
      if (!first?.all || targets.length > 1) {
        throw new LuaError(`The script has "${this.next}" where a statement was expected.`);
      }
      return (frame) => void first.one(frame);
    }
    const values = this.expressions();
    return (frame) => {
      const places = targets.map(({ place }) => place!(frame));
      const found = values(frame);
      for (const [at, assign] of places.entries()) assign(found[at]);
    };
  }
}

/** Makes a function with parameters at `slots`, inside the frame `outer`. */
function called(slots: readonly number[], body: Statement, outer: Frame | undefined): LuaFunction {
  return (args) => {
    const frame: Frame = { slots: [], outer };
    for (const [at, slot] of slots.entries()) frame.slots[slot] = args[at];
    return body(frame) ?? [];
  };
}

function* counted([first, last, step = 1]: readonly LuaValue[]): Generator<LuaValue[]> {
  const [from, to, by] = [operand(first), operand(last), operand(step)];
  for (let at = from; by > 0 ? at <= to : at >= to; at += by) yield [at];
}

function* iterated([next, state, start]: readonly LuaValue[]): Generator<LuaValue[]> {
  if (typeof next !== 'function') throw new LuaError('The script loops over what is no iterator.');
  let round = next([state, start]);
  while (round[0] !== undefined) {
    yield round;
    round = next([state, round[0]]);
  }
}
