import { isLockError } from '../../engine/errors/index.js';
import { UsageError } from './usage-error.js';

/** Phrases of the library's messages about module options, with their replacements for the command line. */
export const WORDING: readonly (readonly [library: string, here: string])[] = [
  [' (option "connectTimeout")', ' (--timeout)'],
  ['"keyPrefix"', '--prefix'],
  ['give it as { sentinels: [{ host, port }], name }', 'give it by --sentinel and --master'],
  ['give { cluster: [{ host, port }] }', 'give it by --cluster'],
  ['give it as option "redis" itself, without "cluster"', 'give it by --url, not by --cluster'],
  ['give the authority in "tls": { ca }', 'give the file of its authority by --ca'],
  ['set "tls": { servername }', 'give the name in it by --servername'],
  ['use rediss://, or option "tls"', 'use rediss://, or --tls'],
  ['use redis://, or leave out "tls"', 'use redis://, or leave out --tls and --ca'],
  ['set it in option "redis"', 'set REDIS_PASSWORD, or put it into the URL'],
  [
    'correct "db" in option "redis", or the path of its URL',
    'correct --db, or the path of the URL',
  ],
  ['correct "name" in option "redis"', 'correct --master'],
  ['correct "sentinels" in option "redis"', 'correct --sentinel'],
  ['set "sentinelPassword" in option "redis"', 'set REDIS_SENTINEL_PASSWORD'],
];

/** Causes that mean that no Redis answers at the address. */
const NOBODY = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT/;

/** Rewords an error message for the command line. The message has no URL, user or password. */
export function wording(message: string): string {
  const reworded = WORDING.reduce(
    (text, [library, here]) => text.replaceAll(library, here),
    message,
  );
  if (!NOBODY.test(reworded)) return reworded;
  return `${reworded} Start Redis there, or say where it is: --url, --cluster, --sentinel or REDIS_URL.`;
}

/** An error as JSON. */
export interface ToldError {
  readonly code: string;
  readonly message: string;
}

/** Returns the code and message of an error; undefined for a bug, whose stack is printed instead. */
export function toldOf(error: unknown): ToldError | undefined {
  if (error instanceof UsageError) return { code: 'USAGE', message: error.message };
  if (!isLockError(error)) return undefined;
  return { code: error.code, message: wording(error.message) };
}

/** True if the command line is wrong. */
export function isUsage({ code }: ToldError): boolean {
  return ['USAGE', 'LOCK_OPTIONS', 'LOCK_KEY'].includes(code);
}
