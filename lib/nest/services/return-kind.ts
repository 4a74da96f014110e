import { Observable } from 'rxjs';
import type { LockedOptions } from '../../engine/options/index.js';

/** The kind of a method's result; `assumed` if the declared type does not show it. */
export interface ReturnKind {
  readonly kind: NonNullable<LockedOptions['returns']>;
  readonly assumed: boolean;
}

/** The kinds of our own wrappers, whose code does not show what they return. */
const known = new WeakMap<object, ReturnKind>();

/** Records what a wrapper returns, for decorators above it. */
export function rememberReturnKind(wrapper: object, kind: ReturnKind): void {
  known.set(wrapper, kind);
}

/** The helpers by which compilers write an async function for old targets. */
const DOWNLEVEL = /\b(?:__awaiter|__async|_?_?async_?to_?generator)\b/i;

/**
 * Determines the kind of a method's result before it runs: an async function shows it, other methods declare it in their type's
 * metadata. A type that is neither Promise nor Observable (an interface, a union) counts as a Promise. Undefined where the
 * compiler left no types: a guess would take a stream for a Promise.
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
