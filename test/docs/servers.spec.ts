import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort, RedisProcess } from '../../tools/redis-server.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { LockProcess } from '../support/lock-process.js';
import { textOf } from './pages.js';

interface Result {
  readonly passed: number;
  readonly failed: number;
}
type Results = Readonly<Record<string, Readonly<Record<string, Result>>>>;

const tools = '../../tools/servers';
const { SERVERS } = (await import(`${tools}/servers.mjs`)) as {
  SERVERS: readonly { name: string }[];
};
const { readResults, tableOf } = (await import(`${tools}/results.mjs`)) as {
  readResults: () => Results;
  tableOf: (results: Results, parts: readonly string[]) => string[];
};

const page = textOf('docs/servers.md');

describe('the page of servers', () => {
  const results = readResults();

  it('shows what npm run test:servers kept', () => {
    const [, head] = /^\| server \| (.*) \| last run \|$/m.exec(page)!;
    expect(page).toContain(tableOf(results, head!.split(' | ')).join('\n'));
  });

  it('has every server that is tried, and no failure', () => {
    expect(Object.keys(results)).toEqual(SERVERS.map(({ name }) => name));
    const all = Object.values(results).flatMap((row) => Object.values(row));
    expect(all.filter(({ passed, failed }) => failed > 0 || passed === 0)).toEqual([]);
    const rows = Object.values(results);
    expect(rows.map((row) => 'start' in row)).toEqual(rows.map(() => true));
  });
});

/** What a start says of what answers there. */
async function said(redis: string): Promise<string> {
  const client = new LockProcess({ redis });
  const error: unknown = await client.locks.open().catch((reason: unknown) => reason);
  await client.close();
  return (error as Error).message;
}

describe('what a start says', () => {
  it('of a server that is too old', async () => {
    const server = await RedisProcess.start();
    const proxy = await FaultProxy.before(server.port);
    const info = '# Server\r\nredis_version:6.0.16\r\nredis_mode:standalone\r\nrole:master';
    proxy.fate = ([word]) => (word === 'info' ? `$${info.length}\r\n${info}` : 'pass');
    const text = await said(proxy.url);
    expect(page).toContain(`\`${text.replace(String(proxy.port), '6379')}\``);
    await proxy.close();
    await server.stop();
  });

  it('where nothing is', async () => {
    const port = await freePort();
    const text = await said(`redis://127.0.0.1:${port}`);
    expect(page).toContain(`\`${text.replace(String(port), '6379')}\``);
  });

  it('of a web server', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const text = await said(`redis://127.0.0.1:${port}`);
    expect(page).toContain(`\`${text.replace(String(port), '8080')}\``);
    server.close();
  });
});
