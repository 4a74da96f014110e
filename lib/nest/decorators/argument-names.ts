import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import {
  type ArgumentPlace,
  isAuthorsName,
  type Names,
  parameterNames,
  type Reader,
} from '../../engine/keys/index.js';
import { listed } from '../services/metadata.js';
import { nameOf, unwrapped } from './decorated-method.js';
import { LOCK_KEY_METADATA } from './parameters.js';

type Args = readonly unknown[];

/**
 * Resolves names of a key template to arguments. A name is a position, a `@LockKey('name')`, the name a route gives
 * (`@Param('id')`), or the parameter's name in the source; the first match counts.
 */
export function argumentNames(
  prototype: object,
  method: string | symbol,
  original: (...args: never[]) => unknown,
): Names<Args> {
  const source = unwrapped(original);
  const inSource = parameterNames(source);
  const declared = new Map<string, ArgumentPlace>([
    ...routeNames(prototype, method),
    ...markedNames(prototype, method),
  ]);
  return {
    owner: `@Locked on ${nameOf(prototype, method)}`,
    reader(name) {
      if (/^\d+$/.test(name)) return (args) => args[Number(name)];
      const place = declared.get(name);
      if (place) return reader(place);
      const parameter = inSource.get(name);
      if (!parameter || !isAuthorsName(name, source, prototype.constructor)) return undefined;
      return reader(parameter);
    },
    remedy(name) {
      const names = [...new Set([...inSource.keys(), ...declared.keys()])].join(', ');
      const why = inSource.has(name)
        ? 'A minifier may have given that short name to another parameter: no parameter or variable of four or more letters in the class shows that names were kept.'
        : `There is no "${name}". Names here: ${names || 'none (the source is hidden, by a wrapper beneath or a minifier)'}.`;
      return `${why} Mark the parameter with @LockKey('${name}'), or use its position: <0>.`;
    },
  };
}

function reader({ index, path, rest }: ArgumentPlace): Reader<Args> {
  const whole: Reader<Args> = rest ? (args) => args.slice(index) : (args) => args[index];
  if (path.length === 0) return whole;
  return (args) =>
    path.reduce<unknown>(
      (value, step) => (value as Record<string, unknown> | undefined)?.[step],
      whole(args),
    );
}

function markedNames(prototype: object, method: string | symbol): [string, ArgumentPlace][] {
  const marks = listed<[string, number]>(LOCK_KEY_METADATA, prototype.constructor, method);
  return marks.map(([name, index]) => [name, { index, path: [] }]);
}

/** The names that a route gives to parameters. A name given to two parameters is ambiguous and left out. */
function routeNames(prototype: object, method: string | symbol): [string, ArgumentPlace][] {
  const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, prototype.constructor, method) ??
    {}) as Record<string, { index: number; data?: unknown }>;
  const named = Object.values(args).filter(({ data }) => typeof data === 'string' && data !== '');
  return named
    .filter(({ data }) => named.filter((other) => other.data === data).length === 1)
    .map(({ index, data }) => [data as string, { index, path: [] }]);
}
