import type { CanActivate, ModuleMetadata, Type } from '@nestjs/common';
import { LockOptionsError } from '../../engine/errors/index.js';
import {
  type Duration,
  keyMatcher,
  milliseconds,
  refuseOthers,
  wholeNumber,
} from '../../engine/options/index.js';

/** The options of `LockBoardModule.forRoot`: `guards`, or `open: true`. */
export interface LockBoardOptions {
  /** Where the page is, below the global prefix; it has no version. @default 'locks' */
  readonly path?: string | undefined;
  /**
   * The guards of all routes of the page: classes, or instances.
   *
   * Nest makes the classes. The page is opened by a browser, so guards see a cookie, Basic authentication or a header of
   * your proxy; no `Authorization: Bearer`.
   */
  readonly guards?: readonly (Type<CanActivate> | CanActivate)[] | undefined;
  /**
   * Modules that export what the guards inject, and `RedisLockModule` with `isGlobal: false`.
   * @default []
   */
  readonly imports?: ModuleMetadata['imports'] | undefined;
  /**
   * Allows a page without guards.
   *
   * A guard of the whole application or the network keeps strangers out then. Either this or `guards`.
   * @default false
   */
  readonly open?: boolean | undefined;
  /**
   * Lets every viewer release locks by force.
   *
   * The page asks for a confirmation.
   * @default false
   */
  readonly release?: boolean | undefined;
  /** The keys that are shown and can be released; `*` stands for any text. @default '*' */
  readonly pattern?: string | undefined;
  /**
   * The pause between two scans of Redis, while somebody looks.
   *
   * It is never shorter than the last scan took. All viewers of this process share a scan.
   * @range 500 ms to 10 s
   * @default '2s'
   */
  readonly interval?: Duration | undefined;
  /**
   * How many locks are shown at most; the page says when there may be more.
   * @range 1 to 5,000
   * @default 500
   */
  readonly limit?: number | undefined;
  /**
   * The `name` of the `RedisLockModule`, where there are several.
   *
   * Default: the one without a name.
   */
  readonly module?: string | undefined;
}

/** {@link LockBoardOptions} with all defaults filled in. */
export type BoardSettings = ReturnType<typeof boardSettings>;

const INTERVAL = { min: 500, max: 10_000 };
const MOST = 5_000;

/** @throws LockOptionsError for a wrong or unknown option, and for a page without guards and without `open: true`. */
export function boardSettings(options: LockBoardOptions) {
  const {
    path = 'locks',
    guards = [],
    imports = [],
    open = false,
    release = false,
    pattern = '*',
    interval = '2s',
    limit = 500,
    module,
    ...others
  } = options;
  refuseOthers(others, (other) => `LockBoardModule has no option "${other}".`);
  for (const [name, value] of Object.entries({ path, pattern, module: module ?? '' })) {
    if (typeof value !== 'string') refuse(`takes a string as "${name}".`);
  }
  if (pattern === '') refuse('takes a "pattern" that is not empty, "*" for all keys.');
  for (const [name, value] of Object.entries({ open, release })) {
    if (typeof value !== 'boolean') refuse(`takes true or false as "${name}".`);
  }
  checkGuards(guards, open);
  return {
    path,
    guards,
    imports,
    release,
    pattern,
    matches: keyMatcher(pattern),
    interval: milliseconds('interval', interval, INTERVAL),
    limit: wholeNumber('limit', limit, MOST),
    module,
  };
}

function checkGuards(guards: unknown, open: boolean): void {
  const isGuard = (guard: unknown): boolean =>
    typeof guard === 'function' ||
    typeof (guard as Partial<CanActivate> | null)?.canActivate === 'function';
  if (!Array.isArray(guards) || !guards.every(isGuard)) {
    refuse('takes a list of guards as "guards": classes, or objects with "canActivate".');
  }
  if (open && (guards as unknown[]).length > 0) {
    refuse('takes "guards" or "open: true", not both.');
  }
  if (!open && (guards as unknown[]).length === 0) {
    refuse(
      'would show everybody who holds which lock: give it "guards: [YourAdminGuard]", or "open: true" where something else keeps strangers out.',
    );
  }
}

function refuse(what: string): never {
  throw new LockOptionsError(`LockBoardModule ${what}`);
}
