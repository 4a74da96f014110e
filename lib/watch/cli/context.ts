import { LockClient } from '../../engine/client/lock-client.js';
import { RedisLockStore } from '../../engine/locks/lock/redis-lock-store.js';
import {
  DIALECT_NAMES,
  type LockDialect,
  type ModuleSettings,
  moduleSettings,
  milliseconds,
  systemClock,
} from '../../engine/options/index.js';
import type { Request } from './arguments.js';
import { connectionOptionsOf } from './connection-options.js';
import type { Terminal } from './terminal.js';
import { UsageError } from './usage-error.js';

/** The context of a command. */
export interface Context {
  readonly request: Request;
  readonly terminal: Terminal;
  readonly settings: ModuleSettings;
  /** A client that connects at its first call. */
  readonly client: LockClient;
}

/** The exit code: 0 and 1 answer the command's question, 2 is a usage error, and 3 means that there is no answer. */
export type ExitCode = 0 | 1 | 2 | 3;

/** The longest key in bytes: above any likely limit of an application, which is unknown here. */
const KEY_BYTES = 1_000_000;

/** @throws UsageError, LockOptionsError */
export function contextOf(
  request: Request,
  env: Readonly<Record<string, string | undefined>>,
  terminal: Terminal,
): Context {
  const { prefix, timeout, dialect } = request.values;
  const settings = moduleSettings({
    redis: connectionOptionsOf(request.values, env),
    ...(prefix !== undefined && { keyPrefix: prefix }),
    ...(timeout !== undefined && {
      connectTimeout: timeOf('timeout', timeout, { min: 50, max: 600_000 }),
    }),
    ...(dialect !== undefined && { dialect: dialectOf(dialect) }),
    durability: 'ignore', // commands may look at locks on any server; doctor checks durability itself
    shutdownGrace: 0,
    limits: { keyBytes: KEY_BYTES },
  });
  const client = new LockClient(new RedisLockStore(settings, systemClock), settings, systemClock);
  return { request, terminal, settings, client };
}

/** Reads a time option, in ms. Errors do not repeat the value, which may be a misplaced secret. */
export function timeOf(
  option: string,
  value: string,
  bounds: { readonly min: number; readonly max: number },
): number {
  try {
    return milliseconds(option, value, bounds);
  } catch {
    throw new UsageError(
      `--${option} takes a time from ${bounds.min} ms to ${bounds.max} ms: --${option} 5s.`,
    );
  }
}

/** Reads a whole-number option. */
export function numberOf(option: string, value: string, most: number): number {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : 0;
  if (number >= 1 && number <= most) return number;
  throw new UsageError(`--${option} takes a whole number from 1 to ${most}.`);
}

/** Reads a dialect: a name, or a JSON object, whose options are checked with the others. Errors do not repeat the name. */
function dialectOf(text: string): LockDialect {
  const dialect = text.startsWith('{') ? parsed(text) : { name: text };
  if (DIALECT_NAMES.includes(dialect.name)) return dialect as LockDialect;
  throw new UsageError(`There is no such dialect. Dialects: ${DIALECT_NAMES.join(', ')}.`);
}

function parsed(text: string): { readonly name: string } {
  try {
    return JSON.parse(text) as { name: string };
  } catch {
    throw new UsageError(
      '--dialect takes a name, or JSON: \'{"name":"spring","registry":"locks"}\'.',
    );
  }
}
