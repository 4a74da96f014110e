import { Observable } from 'rxjs';
import type { LockedOptions } from '../../engine/options/index.js';

/** What a method returns; `assumed` where its declared type does not say so. */
export interface ReturnKind {
  readonly kind: NonNullable<LockedOptions['returns']>;
  readonly assumed: boolean;
}

/** Of the wrappers of ours, whose form says nothing. */
const known = new WeakMap<object, ReturnKind>();

/** Lets a decorator above the wrapper know what it returns. */
export function rememberReturnKind(wrapper: object, kind: ReturnKind): void {
  known.set(wrapper, kind);
}

/** What compilers make of an async function for targets that have none. */
const DOWNLEVEL = /\b(?:__awaiter|__async|_?_?async_?to_?generator)\b/i;

/**
 * What a method returns, as far as it can be known before it runs: an async function says so itself, any other by
 * its type in the metadata. A type that is neither Promise nor Observable (an interface, a union) counts as a Promise.
 * Undefined where the compiler left no types: a stream would be taken for a Promise.
 */
export function returnKind(
  prototype: object,
  method: string | symbol,
  original: (...args: never[]) => unknown,
): ReturnKind | undefined {
  const remembered = known.get(original);
  if (remembered) return remembered;
  const tag = Object.prototype.toString.call(original);
  if (tag === '[object AsyncGeneratorFunction]') return { kind: 'iterable', assumed: false };
  if (tag === '[object AsyncFunction]') return { kind: 'promise', assumed: false };
  const type = Reflect.getMetadata('design:returntype', prototype, method) as unknown;
  if (typeof type === 'function' && isObservableType(type)) {
    return { kind: 'observable', assumed: false };
  }
  if (type === Promise) return { kind: 'promise', assumed: false };
  const source = Function.prototype.toString.call(original);
  if (!Reflect.hasMetadata('design:type', prototype, method) && !DOWNLEVEL.test(source)) {
    return undefined;
  }
  return { kind: 'promise', assumed: true };
}

function isObservableType(type: object): boolean {
  const { prototype, name } = type as { prototype?: unknown; name?: unknown };
  return type === Observable || prototype instanceof Observable || name === 'Observable';
}
