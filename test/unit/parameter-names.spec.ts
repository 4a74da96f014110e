import { expect, it } from '@jest/globals';
import { runInThisContext } from 'node:vm';
import { isAuthorsName, parameterNames } from '../../lib/engine/keys/index.js';

class Parent {}

class Methods extends Parent {
  #secret = 1;
  plain(_a: string, _b: number): void {}
  defaults(_when = new Date(Math.max(1, 2)), /* c, */ _text = ') {', _d?: string): void {}
  pattern({ a: { b: _c } }: { a: { b: number } }, [, _d]: number[], ..._rest: string[]): void {}
  async waits(_a: string): Promise<void> {}
  *generates(_a: string): Generator<void> {}
  async *streams(_a: string): AsyncGenerator<void> {}
  privately(_a: string): number {
    return this.#secret;
  }
  toSuper(_a: string): unknown {
    return super.valueOf();
  }
  [Symbol.iterator](_a: string): void {}
  'with space'(_a: string): void {}
  get(_a: string): void {}
  async(_a: string): void {}
  none(): void {}
}

const names = (method: unknown): Record<string, unknown> =>
  Object.fromEntries(parameterNames(method as () => void));
const at = (index: number, ...path: string[]): unknown => ({ index, path });

it.each<[string | symbol, Record<string, unknown>]>([
  ['plain', { _a: at(0), _b: at(1) }],
  ['defaults', { _when: at(0), _text: at(1), _d: at(2) }],
  ['pattern', { _c: at(0, 'a', 'b'), _d: at(1, '1'), _rest: { index: 2, path: [], rest: true } }],
  ['waits', { _a: at(0) }],
  ['generates', { _a: at(0) }],
  ['streams', { _a: at(0) }],
  ['privately', { _a: at(0) }],
  ['toSuper', { _a: at(0) }],
  [Symbol.iterator, { _a: at(0) }],
  ['with space', { _a: at(0) }],
  ['get', { _a: at(0) }],
  ['async', { _a: at(0) }],
  ['none', {}],
])('the parameters of %p are found in its source', (name, expected) => {
  expect(names(Methods.prototype[name as 'plain'])).toEqual(expected);
});

it('of a method outside of a class, which may have names that a class reserves', () => {
  const { work } = runInThisContext('({ work(static, a) {} })') as { work: () => void };
  expect(names(work)).toEqual({ static: at(0), a: at(1) });
});

it('functions and arrows have names too; native and bound ones have none', () => {
  expect(names((a: string, b = a) => b)).toEqual({ a: at(0), b: at(1) });
  expect(names(async (a: string) => a)).toEqual({ a: at(0) });
  expect(
    names(function work(a: string) {
      return a;
    }),
  ).toEqual({ a: at(0) });
  expect(names(Math.max)).toEqual({});
  expect(names(((a: string) => a).bind(null))).toEqual({});
});

it.each([
  ['id', 'w(id, e) { return id }', true],
  ['id', 'w(id,e){return id}', false],
  ['id', 'w(id){return id}', true],
  ['e', 'w(e) { return e }', false],
  ['e', 'w(e,n){let user=e;return user}', true],
])('"%s" of %s is the author’s name: %s', (name, source, isOurs) => {
  const { w } = runInThisContext(`({ ${source} })`) as { w: () => void };
  expect(isAuthorsName(name, w, undefined)).toBe(isOurs);
});
