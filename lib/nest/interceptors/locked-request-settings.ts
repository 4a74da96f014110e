import type { ExecutionContext } from '@nestjs/common';
import { LockOptionsError } from '../../engine/errors/index.js';
import { keyReader, nameOfKey, type Names } from '../../engine/keys/index.js';
import { labelOfPlace, type LockedOptions } from '../../engine/options/index.js';
import { CallPlans } from '../services/call-plan.js';

/** Metadata on a handler or controller under `@LockedRequest`: its {@link LockedRequestSettings}. */
export const LOCKED_REQUEST_METADATA = Symbol('nest-redis-lock:locked-request');

/** The options of `@LockedRequest`. A busy request cannot be skipped: it would look as if it had been handled. */
export type LockedRequestOptions = Omit<LockedOptions, 'returns' | 'onBusy' | 'label'> & {
  /**
   * Says whose call it is, as in `@Locked`: a text, or a function of the ExecutionContext. Default: `Class.method` of the handler.
   */
  readonly label?: string | ((context: ExecutionContext) => string) | undefined;
  readonly onBusy?: 'throw' | undefined;
};

/**
 * The key of `@LockedRequest`: a template like `'tenant:<user.tenantId>'`, several templates for one lease on all of those
 * locks, or a function of the ExecutionContext. Holes are checked at start-up; a value that cannot be in a key is a
 * `LockKeyError` of the request.
 */
export type RequestKey =
  string | readonly string[] | ((context: ExecutionContext) => string | readonly string[]);

type Roots = Readonly<Record<string, (context: ExecutionContext) => unknown>>;

const HTTP = ['params', 'query', 'body', 'headers', 'user', 'ip'];

/** The names that a key may use, for each kind of application. */
const ROOTS: Readonly<Record<string, Roots>> = {
  http: Object.fromEntries(
    HTTP.map((name) => [
      name,
      (context) => context.switchToHttp().getRequest<Record<string, unknown>>()[name],
    ]),
  ),
  graphql: {
    args: (context) => context.getArgByIndex(1),
    user: (context) =>
      context.getArgByIndex<{ req?: { user?: unknown } } | undefined>(2)?.req?.user,
  },
  rpc: {
    data: (context) => context.switchToRpc().getData(),
    user: (context) => context.switchToRpc().getContext<{ user?: unknown } | undefined>()?.user,
  },
  ws: {
    data: (context) => context.switchToWs().getData(),
    user: (context) => context.switchToWs().getClient<{ user?: unknown } | undefined>()?.user,
  },
};
const KNOWN = [...new Set(Object.values(ROOTS).flatMap((roots) => Object.keys(roots)))];

/** The checked key and options of one `@LockedRequest`. */
export class LockedRequestSettings {
  readonly keyOf: (context: ExecutionContext) => string | readonly string[];
  readonly plans: CallPlans;

  constructor(key: RequestKey, options: LockedRequestOptions) {
    const name = options.name ?? (typeof key === 'function' ? undefined : nameOfKey(key));
    const { label = handlerOf } = options;
    this.plans = new CallPlans(options, name, label);
    if ((options.onBusy as string | undefined) === 'skip' || typeof options.onBusy === 'function') {
      throw new LockOptionsError(
        '@LockedRequest takes no onBusy but "throw": the request would be answered without having been handled.',
      );
    }
    this.keyOf = typeof key === 'function' ? key : keyReader(key, NAMES);
  }
}

/** The label of a request, unless its decorator says another. */
function handlerOf(context: ExecutionContext): string | undefined {
  return labelOfPlace(`${context.getClass().name}.${context.getHandler().name}`);
}

const NAMES: Names<ExecutionContext> = {
  reader(name) {
    if (!KNOWN.includes(name)) return undefined;
    return (context) => {
      const read = ROOTS[context.getType<string>()]?.[name];
      if (read) return read(context);
      throw new LockOptionsError(
        `@LockedRequest names <${name}>, which a ${context.getType<string>()} request does not have.`,
      );
    };
  },
  // Node.js keeps header names in lower case.
  step: (name, step) => (name === 'headers' ? step.toLowerCase() : step),
  owner: '@LockedRequest',
  remedy: (name) => `There is no "${name}". A request has: ${KNOWN.join(', ')}.`,
};
