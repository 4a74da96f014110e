import { nativeScripts } from '../../../engine/locks/native-scripts.js';
import { systemClock } from '../../../engine/options/index.js';
import {
  connectToEach,
  type FoundServer,
  type FoundServers,
  missingRights,
  prefixOf,
  type RedisConnection,
  rightsFor,
} from '../../../engine/redis/index.js';
import type { Context, ExitCode } from '../context.js';
import { toldOf, wording } from '../wording.js';
import { type Diagnosis, diagnosesOf, type Finding, ok, problem } from './finding.js';
import { keyFindings } from './keys.js';
import { reportLines } from './report.js';
import { serverFindings } from './server-settings.js';
import { roundTrips, scripts } from './timing.js';

/** Diagnoses the connection, the servers and the keys, without a write to Redis. The exit code is 0 if there is no problem. */
export async function doctor(context: Context): Promise<ExitCode> {
  const { terminal, request } = context;
  const findings = (await examine(context)).map((each) => ({
    ...each,
    found: wording(each.found),
    ...(each.remedy !== undefined && { remedy: wording(each.remedy) }),
  }));
  if (request.values.json) terminal.printJson({ findings });
  else for (const line of reportLines(findings)) terminal.print(line);
  return findings.some(({ status }) => status === 'problem') ? 1 : 0;
}

/** Checks whose problems keep any application from starting. */
const DECISIVE = ['connection', 'server', 'rights'];

async function examine(context: Context): Promise<Diagnosis[]> {
  const { settings } = context;
  let found: FoundServers;
  try {
    found = await connectToEach(settings.redis, settings, systemClock);
  } catch (error) {
    const { message } = told(error);
    return [{ ...problem('connection', message), servers: [] }];
  }
  const { servers, unservedSlots } = found;
  try {
    const each = servers.map(async (server) => ({
      server: server.address,
      findings: await findingsAt(server, context),
    }));
    const diagnoses = diagnosesOf(await Promise.all(each));
    const isOver = diagnoses.some(
      ({ check, status }) => status === 'problem' && DECISIVE.includes(check),
    );
    const ofAll = isOver ? [] : await findingsOfAll(context);
    return [
      ...diagnoses,
      ...slots(unservedSlots),
      ...ofAll.map((one) => ({ ...one, servers: [] })),
    ];
  } finally {
    for (const server of servers) if ('connection' in server) server.connection.close();
  }
}

async function findingsAt(server: FoundServer, { settings }: Context): Promise<Finding[]> {
  if ('error' in server) return [problem('connection', told(server.error).message)];
  const { connection } = server;
  const { redis, keyPrefix, limits } = settings;
  const prefix = prefixOf(redis) + keyPrefix;
  const findings = await serverFindings(connection);
  if (findings.some(({ check, status }) => check === 'server' && status === 'problem')) {
    return findings;
  }
  try {
    findings.push(await rights(connection, prefix));
    findings.push(...(await roundTrips(connection)));
    findings.push(...(await keyFindings(connection, prefix, limits.keyBytes)));
  } catch (error) {
    findings.push(problem('connection', `It was lost meanwhile: ${told(error).message}`));
  }
  return findings;
}

async function rights(connection: RedisConnection, prefix: string): Promise<Finding> {
  const missing = await missingRights(connection, rightsFor(prefix, nativeScripts));
  if (missing.length === 0) return ok('rights', 'The Redis user has the rights that locks need.');
  // Redis refuses a pattern beside `~*`.
  const patterns = prefix === '' ? ["'~*'"] : [`'~${prefix}*'`, `'~{${prefix}*'`];
  const quoted = missing.flatMap((right) => (right.startsWith('~') ? patterns : [right])).join(' ');
  const remedy = `Grant it: redis-cli ACL SETUSER <user> ${quoted}`;
  return problem('rights', `The Redis user lacks ${quoted}.`, remedy);
}

/** Does what an application does: starts, and inspects locks. */
async function findingsOfAll({ client }: Context): Promise<Finding[]> {
  try {
    await client.open();
    return [ok('start', 'An application can connect and lock here.'), await scripts(client)];
  } catch (error) {
    return [problem('start', told(error).message)];
  }
}

function slots(unserved: number): Diagnosis[] {
  if (unserved === 0) return [];
  const finding = problem(
    'slots',
    `Slots of the Cluster without a primary: ${unserved}. No lock in them can be taken.`,
    'redis-cli --cluster check names them, and redis-cli --cluster fix mends it.',
  );
  return [{ ...finding, servers: [] }];
}

/** @throws the error itself if it is not of this library. */
function told(error: unknown): { readonly message: string } {
  const found = toldOf(error);
  if (!found) throw error;
  return found;
}
