// Runs a few replicas that hold locks and wait for them, and pictures their page: docs/public/page-light.png and -dark.png.
// `npm run build` first.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import os from 'node:os';
import { writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { LockService, RedisLockModule } from 'nest-redis-lock';
import { LockBoardModule } from 'nest-redis-lock/board';
import { openBrowser } from './browser.mjs';
import { smallPng } from './small-png.mjs';

const SIZE = { width: 980, height: 390 };
const MOST_BYTES = 60_000;

const port = await freePort();
const server = spawn('redis-server', ['--port', String(port), '--save', ''], { stdio: 'ignore' });
const redis = `redis://127.0.0.1:${port}`;
const apps = [];
let browser;
try {
  const [web1, web2, worker1, worker2] = [
    await replica('web-1', 4711),
    await replica('web-2', 4702),
    await replica('worker-1', 318),
    await replica('worker-2', 322),
  ];
  await worker1.acquire('election:feed');
  await sleep(9_000);
  await worker2.acquire('import:users', { ttl: '90s' });
  for (const replica of [web1, web2, web1]) await replica.acquire('price-list', { mode: 'shared' });
  const uploads = [worker1, worker2].map((each) => each.semaphore('uploads', { permits: 2 }));
  for (const upload of uploads) await upload.acquire();
  queue(uploads[0].acquire({ wait: '1m' }));
  await sleep(6_000);
  await web2.acquire('account:1043');
  for (const each of [web1, web1, web2]) queue(each.acquire('price-list', { wait: '1m' }));
  await web1.acquire('account:42');
  for (const each of [web2, worker1, worker2]) queue(each.acquire('account:42', { wait: '1m' }));
  await sleep(4_000);
  const board = `http://127.0.0.1:${apps[0].getHttpServer().address().port}/locks`;
  browser = await openBrowser();
  for (const colorScheme of ['light', 'dark']) await picture(board, colorScheme);
} finally {
  await browser?.close();
  for (const app of apps) await app.close();
  server.kill('SIGKILL');
}

/** Waits until the end, which refuses it. */
function queue(call) {
  call.catch(() => {});
}

/** The locks of a replica that believes it is on another host, and shows the page. */
async function replica(host, pid) {
  const { hostname } = os;
  const own = process.pid;
  os.hostname = () => host;
  syncBuiltinESMExports();
  Object.defineProperty(process, 'pid', { value: pid, configurable: true });
  const imports = [
    RedisLockModule.forRoot({ redis, shutdownGrace: 0, durability: 'ignore', lockOrder: 'ignore' }),
    LockBoardModule.forRoot({ open: true, release: true }),
  ];
  const app = await NestFactory.create({ module: class Bank {}, imports }, { logger: ['error'] });
  await app.listen(0, '127.0.0.1');
  apps.push(app);
  os.hostname = hostname;
  syncBuiltinESMExports();
  Object.defineProperty(process, 'pid', { value: own, configurable: true });
  return app.get(LockService);
}

async function picture(board, colorScheme) {
  const page = await browser.newPage({ viewport: SIZE, colorScheme });
  await page.goto(board);
  await page.waitForSelector('text=account:42');
  const path = `docs/public/page-${colorScheme}.png`;
  const png = smallPng(await page.screenshot());
  if (png.length > MOST_BYTES) throw new Error(`${path} would have ${png.length} bytes.`);
  writeFileSync(path, png);
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port: free } = probe.address();
  probe.close();
  return free;
}
