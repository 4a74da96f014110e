import { isLockError } from '../../engine/errors/index.js';
import { grantOf, type LockInspection, sightOf } from '../../engine/inspection/inspection.js';
import { LockService } from '../../nest/services/lock.service.js';
import { logger } from '../../nest/services/logger.js';
import { type PlatformRequest, Refusal } from './answers.js';
import type { BoardSettings } from './board-options.js';
import { boardRow } from './board-row.js';

/** The most bytes of a release request: its key and a little more. */
const MOST_BYTES = 65_536;
/** The wording of each outcome in the log. */
const OUTCOMES = {
  true: 'it is taken.',
  false: 'it was free by then.',
  another: 'another caller had it by then.',
} as const;
/** Statuses of the library's errors that are about the request; all others are about Redis. */
const STATUS: Readonly<Record<string, number>> = { LOCK_KEY: 400, FOREIGN_LOCK: 409 };

/**
 * Takes a lock from the holder that the page has shown.
 * @throws Refusal if the request is wrong, or another caller holds the lock by now.
 */
export async function forcedRelease(
  request: PlatformRequest,
  locks: LockService,
  { matches }: BoardSettings,
): Promise<{ freed: boolean }> {
  const { key, grant } = await wanted(request);
  if (!matches(key)) throw new Refusal(404, 'This page does not show that lock.');
  try {
    const seen = await locks.inspect(key);
    if (seen.state === 'free') return { freed: false };
    if (seen.state === 'foreign') throw new Refusal(409, 'What stands there is no lock.');
    if (grantOf(seen) !== grant) throw changed(seen);
    const freed = await take(seen, locks, request);
    if (freed === 'another') throw changed(await locks.inspect(key));
    return { freed };
  } catch (error) {
    if (!isLockError(error)) throw error;
    throw new Refusal(STATUS[error.code] ?? 503, error.message);
  }
}

/** Why nothing was released. */
function changed(now: LockInspection): Refusal {
  if (now.state !== 'held') return new Refusal(409, 'The caller that was shown gave it back.');
  const holders = holdersOf(now);
  return new Refusal(409, `Another caller holds it now${holders && `: ${holders}`}.`);
}

function holdersOf(lock: LockInspection): string {
  const { holders, others, plus = '' } = boardRow(lock);
  const named = holders.map(({ host, pid }) => `${host} (pid ${pid})`);
  return [...named, ...(others > 0 ? [`and ${others}${plus} more`] : [])].join(', ');
}

/** Takes the lock from the holders that were seen. The outcome is logged, also if Redis does not answer. */
async function take(
  seen: LockInspection,
  locks: LockService,
  { method, url, originalUrl = url }: PlatformRequest,
): Promise<boolean | 'another'> {
  const { key } = seen;
  const { client, settings } = LockService.internals(locks);
  let outcome = '';
  try {
    const freed = await client.force(key, settings.call.format, sightOf(seen));
    outcome = OUTCOMES[`${freed}`];
    return freed;
  } catch (error) {
    outcome = `it may be taken: ${(error as Error).message}`;
    throw error;
  } finally {
    const route = `${method} ${originalUrl?.split('?')[0]}`;
    logger.warn(
      `The lock board was asked to take ${JSON.stringify(key)} from ${holdersOf(seen) || 'its holder'}, by ${route}: ${outcome}`,
    );
  }
}

async function wanted(request: PlatformRequest): Promise<{ key: string; grant?: unknown }> {
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    throw new Refusal(415, 'A release is asked for in JSON: Content-Type is application/json.');
  }
  const body = (await bodyOf(request)) as { key?: unknown; grant?: unknown } | null | undefined;
  if (typeof body?.key === 'string') return { key: body.key, grant: body.grant };
  throw new Refusal(400, 'A release names its lock: { "key": "…" }.');
}

/** The body as the application's parser read it, or else as the request carries it. */
async function bodyOf(request: PlatformRequest): Promise<unknown> {
  const { body, raw = request } = request;
  if (body !== undefined && typeof body !== 'string' && !Buffer.isBuffer(body)) return body;
  return parsed(body ?? (raw.readable ? await textOf(raw) : ''));
}

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Refusal(413, 'That is no key of a lock.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parsed(text: string | Buffer): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}
