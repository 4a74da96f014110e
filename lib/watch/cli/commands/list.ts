import { isCut, listLocks, type LockInspection } from '../../../engine/inspection/inspection.js';
import { type Context, type ExitCode, numberOf } from '../context.js';
import { lockTable } from '../lock-table.js';

const LIMIT = 1_000;
const MOST = 10_000;

/** Shows the locks that match a pattern. */
export async function list(context: Context): Promise<ExitCode> {
  const { terminal, request } = context;
  const locks = await matching(context);
  if (request.values.json) {
    terminal.printJson({ locks, cut: isCut(locks) || undefined });
    return 0;
  }
  for (const line of lines(locks, context)) terminal.print(line);
  return 0;
}

/** The locks that match the pattern of a request, in the order of their keys. */
export function matching({ client, request, settings }: Context): Promise<LockInspection[]> {
  return listLocks(client, request.operand, { limit: limitOf(request.values.limit) }, settings);
}

/** The lines of a list of locks for a person. */
export function lines(locks: readonly LockInspection[], { terminal, request }: Context): string[] {
  const { operand, values } = request;
  const limit = limitOf(values.limit);
  const table = locks.length > 0 ? lockTable(locks, terminal.columns) : [];
  if (isCut(locks)) {
    const more = `There may be more than ${limit}: give a narrower pattern`;
    return [...table, limit < MOST ? `${more}, or a greater --limit.` : `${more}.`];
  }
  if (locks.length > 0) return table;
  return [`No lock is held${operand === '*' ? '' : ` whose key matches "${operand}"`}.`];
}

function limitOf(limit: string | undefined): number {
  return limit === undefined ? LIMIT : numberOf('limit', limit, MOST);
}
