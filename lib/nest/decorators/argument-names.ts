import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import {
  type ArgumentPlace,
  isAuthorsName,
  type Names,
  parameterNames,
  type Reader,
} from '../../engine/keys/index.js';
import { nameOf, unwrapped } from './decorated-method.js';
import { LOCK_KEY_METADATA } from './parameters.js';

type Args = readonly unknown[];

/**
 * Resolves names of a key template to arguments. A name is a position, a `@LockKey('name')`, the name a route gives
 * (`@Param('id')`), or the parameter's name in the source. Where the last two differ, the name is none: a minified build knows
 * the first of them alone.
 */
export function argumentNames(
  prototype: object,
  method: string | symbol,
  original: (...args: never[]) => unknown,
): Names<Args> {
  const source = unwrapped(original);
  const inSource = parameterNames(source);
  const [routed, marked] = [routeNames(prototype, method), markedNames(prototype, method)];
  const isNamed = (name: string): boolean =>
    inSource.has(name) && isAuthorsName(name, source, prototype.constructor);
  const placeOf = (name: string): ArgumentPlace | 'ambiguous' | undefined => {
    const mark = marked.get(name);
    if (mark) return mark;
    const [route, named] = [routed.get(name), isNamed(name) ? inSource.get(name) : undefined];
    return route && named && route.index !== named.index ? 'ambiguous' : (route ?? named);
  };
  return {
    owner: `@Locked on ${nameOf(prototype, method)}`,
    reader(name) {
      if (/^\d+$/.test(name)) return (args) => args[Number(name)];
      const place = placeOf(name);
      return typeof place === 'object' ? reader(place) : undefined;
    },
    remedy(name) {
      const names = [
        ...new Set([inSource, routed, marked].flatMap((each) => [...each.keys()])),
      ].join(', ');
      const why =
        placeOf(name) === 'ambiguous'
          ? `The route gives "${name}" to one parameter, and the source calls another so.`
          : inSource.has(name)
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

/** The names of this method's own marks: an override has other parameters than what it overrides. */
function markedNames(prototype: object, method: string | symbol): Map<string, ArgumentPlace> {
  const marks = (Reflect.getOwnMetadata(LOCK_KEY_METADATA, prototype.constructor, method) ??
    []) as [string, number][];
  return new Map(marks.map(([name, index]) => [name, { index, path: [] }]));
}

/** The names that a route gives to parameters. A name given to two parameters is ambiguous and left out. */
function routeNames(prototype: object, method: string | symbol): Map<string, ArgumentPlace> {
  const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, prototype.constructor, method) ??
    {}) as Record<string, { index: number; data?: unknown }>;
  const named = Object.values(args).filter(({ data }) => typeof data === 'string' && data !== '');
  const once = named.filter(
    ({ data }) => named.filter((other) => other.data === data).length === 1,
  );
  return new Map(once.map(({ index, data }) => [data as string, { index, path: [] }]));
}
