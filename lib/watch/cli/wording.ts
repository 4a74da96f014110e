import { isLockError } from '../../engine/errors/index.js';
import { UsageError } from './usage-error.js';

/** What the library's messages say of options of its module, and what a user of the command line does instead. */
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

/** Nothing answers where Redis should be. */
const NOBODY = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT/;

/** What an error says, in words of the command line. It has no URL, user or password. */
export function wording(message: string): string {
  const said = WORDING.reduce((text, [library, here]) => text.replaceAll(library, here), message);
  if (!NOBODY.test(said)) return said;
  return `${said} Start Redis there, or say where it is: --url, --cluster, --sentinel or REDIS_URL.`;
}

/** How an error is told to programs. */
export interface ToldError {
  readonly code: string;
  readonly message: string;
}

/** What to tell of an error; undefined of a bug, of which only the stack helps. */
export function toldOf(error: unknown): ToldError | undefined {
  if (error instanceof UsageError) return { code: 'USAGE', message: error.message };
  if (!isLockError(error)) return undefined;
  return { code: error.code, message: wording(error.message) };
}

/** Whether it is the command line that is wrong. */
export function isUsage({ code }: ToldError): boolean {
  return ['USAGE', 'LOCK_OPTIONS', 'LOCK_KEY'].includes(code);
}
