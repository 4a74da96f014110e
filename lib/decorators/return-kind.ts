import { Observable } from 'rxjs';
import type { LockedOptions } from '../options/index.js';

const AsyncGeneratorFunction = Object.getPrototypeOf(async function* () {})
  .constructor as () => void;

/** What a method returns, as far as its declaration says: its type in the metadata, or `async function*`. */
export function returnKind(
  prototype: object,
  method: string | symbol,
  original: unknown,
): NonNullable<LockedOptions['returns']> {
  if (original instanceof AsyncGeneratorFunction) return 'iterable';
  const type = Reflect.getMetadata('design:returntype', prototype, method) as unknown;
  const isObservable =
    typeof type === 'function' &&
    (type === Observable || type.prototype instanceof Observable || type.name === 'Observable');
  return isObservable ? 'observable' : 'promise';
}
