// Draws docs/dashboard.svg: what docs/public/grafana-dashboard.json shows of an application under load. The application is
// real, and so is the Prometheus that scrapes it and answers the queries of the panels; it is drawn here instead of by
// Grafana. Needs `npm run build`, redis-server and prometheus (both in Debian).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { Registry } from 'prom-client';
import { LockService, RedisLockModule } from '../dist/esm/index.js';
import { registerLockMetrics } from '../dist/esm/prometheus.js';
import { dashboardPicture } from './dashboard/picture.mjs';

/** How long the application is watched, in s, and how far back a rate looks. */
const SPAN = Number(process.argv[2] ?? 180);
const LOOKS_BACK = '15s';

const dashboard = JSON.parse(readFileSync('docs/public/grafana-dashboard.json', 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-dashboard-'));
const children = [];
let closing = [];

async function freePort() {
  const socket = createSocket().listen(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  await once(socket, 'close');
  return port;
}

function start(program, args) {
  const child = spawn(program, args, { cwd: folder, stdio: 'ignore' });
  child.once('error', () => {
    process.stderr.write(`${program} is not installed: apt-get install ${program}\n`);
    process.exit(1);
  });
  children.push(child);
}

async function until(probe) {
  for (;;) {
    if (await probe().catch(() => false)) return;
    await pause(100);
  }
}

/** One replica: its locks, and the metrics of its process at a port of their own. */
async function application(redis) {
  const registry = new Registry();
  closing.push(registerLockMetrics(registry));
  const app = await NestFactory.createApplicationContext(RedisLockModule.forRoot({ redis }), {
    logger: false,
  });
  closing.push(() => app.close());
  const port = await freePort();
  const server = createServer((_, answer) => {
    answer.setHeader('Content-Type', registry.contentType);
    void registry.metrics().then((text) => answer.end(text));
  }).listen(port, '127.0.0.1');
  closing.push(() => server.close());
  return { locks: app.get(LockService), port };
}

/** Callers that come again and again until the end; what a call rejects with is in the metrics. */
async function load(locks, end) {
  const some = (most) => Math.random() * most;
  const again = async (rest, call) => {
    while (Date.now() < end) {
      await call().catch(() => {});
      await pause(some(2 * rest));
    }
  };
  const account = () =>
    locks.withLock(`account:${Math.floor(some(6))}`, { name: 'account:<id>', wait: '2s' }, () =>
      pause(20 + some(120)),
    );
  const importing = () =>
    locks.withLock('import', { name: 'import', wait: '1s' }, () => pause(1_000 + some(2_500)));
  const exporting = () =>
    locks
      .semaphore('export:7', { permits: 3 })
      .withPermit({ name: 'export:<tenant>', wait: '5s' }, () => pause(300 + some(900)));
  const calls = [
    [16, 120, account],
    [3, 800, importing],
    [8, 300, exporting],
  ];
  const all = calls.flatMap(([callers, rest, call]) =>
    Array.from({ length: callers }, () => again(rest, call)),
  );
  await pause((end - Date.now()) / 2);
  while (!(await locks.forceRelease('import'))) await pause(10);
  await Promise.all(all);
}

/** What Grafana puts in before it asks. */
function asAsked(expr) {
  return expr
    .replaceAll('$__rate_interval', LOOKS_BACK)
    .replaceAll('$__range', `${SPAN}s`)
    .replaceAll('"$lock_name"', '".*"');
}

async function answers(api, { type, targets }, from, to) {
  const all = [];
  for (const { expr, legendFormat } of targets) {
    const query = new URLSearchParams({ query: asAsked(expr), start: from, end: to, step: 2 });
    const { status, error, data } = await (await fetch(`${api}/query_range?${query}`)).json();
    if (status !== 'success') throw new Error(`${expr}: ${error}`);
    for (const { metric, values } of data.result) {
      const name = legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? '');
      const points = values.map(([time, value]) => [Number(time) - from, Number(value)]);
      all.push({ name, points: points.filter(([, value]) => Number.isFinite(value)) });
    }
  }
  return type === 'stat' ? all.slice(0, 1) : all;
}

try {
  const [redis, prometheus] = [await freePort(), await freePort()];
  start('redis-server', ['--port', String(redis), '--save', '', '--appendonly', 'no']);
  await until(async () => {
    const socket = (await import('node:net')).connect(redis, '127.0.0.1');
    await once(socket, 'connect');
    return socket.destroy();
  });
  const { locks, port } = await application(`redis://127.0.0.1:${redis}`);
  writeFileSync(
    join(folder, 'prometheus.yml'),
    `global: { scrape_interval: 1s }\nscrape_configs:\n  - job_name: bank\n    static_configs: [{ targets: ['127.0.0.1:${port}'] }]\n`,
  );
  start('prometheus', [
    '--config.file=prometheus.yml',
    '--storage.tsdb.path=data',
    `--web.listen-address=127.0.0.1:${prometheus}`,
  ]);
  const api = `http://127.0.0.1:${prometheus}/api/v1`;
  await until(async () => (await fetch(`${api}/status/runtimeinfo`)).ok);
  const end = Date.now() + (SPAN + 20) * 1_000;
  await load(locks, end);
  const to = Math.floor(end / 1_000);
  const from = to - SPAN;
  const panels = [];
  for (const panel of dashboard.panels) {
    panels.push({ ...panel, series: await answers(api, panel, from, to) });
  }
  writeFileSync('docs/dashboard.svg', dashboardPicture(dashboard.title, panels, SPAN));
} finally {
  for (const close of closing.reverse()) await close();
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
