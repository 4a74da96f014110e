import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { CanActivate, ExecutionContext, INestApplication } from '@nestjs/common';
import { UnauthorizedException, VersioningType } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContextOptions } from 'playwright-core';
import { LockBoardModule, type LockBoardOptions } from '../../lib/watch/board/index.js';
import { LockBoard } from '../../lib/watch/board/lock-board.js';
import { event, Viewer } from '../../lib/watch/board/viewer.js';
import { type Lease, LockService } from '../../lib/index.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { closeAll, closing } from '../support/closing.js';
import { Gate } from '../support/gate.js';
import { PLATFORMS, type Platform, useBench } from '../support/nest-app.js';
import { until } from '../support/until.js';
import { Worker } from '../support/worker.js';
import { AXE, chromium, keysOn, open, type Opened, rowOf, status } from './browser.js';

const bench = useBench();
let rival: LockService;
beforeAll(async () => {
  rival = await bench.rival();
});
afterAll(() => chromium?.close());

afterEach(async () => {
  await closeAll();
  jest.restoreAllMocks();
});

const when = chromium ? describe : describe.skip;

when.each(PLATFORMS)('in a browser, the board on %s', (platform) => {
  it('shows 200 locks, finds one, orders them, and follows them', async () => {
    const keys = Array.from({ length: 200 }, (_, nth) => `account:${1_000 + nth}`);
    const leases = await hold(...keys);
    const waiting = rival.acquire(keys[7]!, { wait: '5m' });
    closing.unshift(async () => (await waiting).release()); // when the others are given back
    const { url } = await start(platform);
    const { page, complaints } = await look(url);
    await until('all are there', async () => (await page.locator('tbody tr').count()) === 200);
    expect(await keysOn(page)).toEqual(keys);
    expect(await page.locator('#summary').textContent()).toBe('200 locks · 1 waiting');
    expect(await status(page)).toBe('Live, every 0.5 s');
    expect(await rowOf(page, keys[7]!)).toEqual({
      mode: 'exclusive',
      holder: expect.stringMatching(new RegExp(`^.+ · pid ${process.pid} · Seats\\.hold$`)),
      heldFor: expect.stringMatching(/^\d+ s$/),
      remaining: expect.stringMatching(/^\d+ s$/),
      waiting: '1',
      oldest: expect.stringMatching(/^\d+ s$/),
    });

    await page.getByRole('button', { name: 'Waiting' }).click();
    expect((await keysOn(page))[0]).toBe(keys[7]);
    expect(await page.locator('[aria-sort]').getAttribute('data-sort')).toBe('waiting');
    await page.getByRole('button', { name: 'Lock' }).click();

    await page.keyboard.press('/');
    await page.keyboard.type('ACCOUNT:119');
    expect(await keysOn(page)).toEqual(keys.slice(190));
    expect(await page.locator('#summary').textContent()).toBe('10 of 200 locks · 1 waiting');
    await page.keyboard.type('x');
    expect(await page.locator('#empty').textContent()).toBe(
      'None of 200 locks matches “ACCOUNT:119x”.',
    );
    await page.keyboard.press('Escape');
    expect(await keysOn(page)).toHaveLength(200);

    await leases[0]!.release();
    await hold('zebra');
    await page.waitForSelector('text=zebra');
    expect(await keysOn(page)).toEqual([...keys.slice(1), 'zebra']);
    expect(complaints).toEqual([]);
  });

  it('has times that tick between two scans', async () => {
    await hold('tick');
    const { url } = await start(platform, { interval: '10s' });
    const { page } = await look(url);
    await page.waitForSelector('text=tick');
    const shown = async (): Promise<number[]> => {
      const { heldFor, remaining } = await rowOf(page, 'tick');
      return [Number.parseInt(heldFor!, 10), Number.parseInt(remaining!, 10)];
    };
    const [held, left] = await shown();
    await until('both moved', async () => {
      const [nowHeld, nowLeft] = await shown();
      return nowHeld! >= held! + 2 && nowLeft! <= left! - 2;
    });
  });

  it('releases a lock by the keyboard alone, behind a question', async () => {
    const [lease] = await hold('stuck');
    await hold('other');
    const { url } = await start(platform, { release: true });
    const { page, complaints } = await look(url);
    const button = page.getByRole('button', { name: 'Release stuck …' });
    await button.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Release this lock?' });
    await dialog.waitFor();
    expect(await page.locator('#chosen').textContent()).toBe('stuck');
    expect(await page.locator(':focus').textContent()).toBe('Keep it');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(lease!.signal.aborted).toBe(false);

    await button.focus();
    await page.keyboard.press('Enter');
    await dialog.waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=stuck was released.');
    await until('the holder is told', () => lease!.signal.aborted);
    await until('its row goes', async () => (await keysOn(page)).join() === 'other');
    expect(complaints).toEqual([]);
  });

  it('keeps the focus of the keyboard near when rows move or go', async () => {
    const [a, b, c] = await hold('a', 'b', 'c');
    const { url } = await start(platform, { release: true });
    const { page } = await look(url);
    const button = (key: string) => page.getByRole('button', { name: `Release ${key} …` });
    const focused = (): Promise<string | null> =>
      page.evaluate(`document.activeElement.ariaLabel ?? document.activeElement.id`);
    await page.getByRole('button', { name: 'Waiting' }).click();
    await button('b').focus();
    const waiting = rival.acquire('b', { wait: '5m' });
    await until('it is at the top', async () => (await keysOn(page))[0] === 'b');
    expect(await focused()).toBe('Release b …');
    await b!.release();
    await (await waiting).release();
    await until('it goes', async () => (await keysOn(page)).join() === 'a,c');
    expect(await focused()).toBe('Release a …');
    await button('c').click();
    await c!.release();
    await until('it goes', async () => (await keysOn(page)).join() === 'a');
    await page.keyboard.press('Escape');
    await until('the filter has it', async () => (await focused()) === 'filter');
    await button('a').focus();
    await a!.release();
    await page.waitForSelector('text=No lock is held.');
    expect(await focused()).toBe('filter');
  });

  it('asks anew when another caller has the lock meanwhile', async () => {
    const [first] = await hold('moving');
    const { url } = await start(platform, { release: true });
    const { page, complaints } = await look(url);
    await page.getByRole('button', { name: 'Release moving …' }).click();
    await first!.release();
    const [second] = await hold('moving');
    await page.waitForSelector(
      `text=/Another caller holds it now: .+ pid ${process.pid} · Seats\\.hold\\./`,
    );
    expect(await page.locator('#release').isDisabled()).toBe(true);
    await second!.release();
    await page.waitForSelector('text=It is free now.');
    expect(complaints).toEqual([]);
  });

  it('says of a release that is answered late which lock it was, and leaves the next question alone', async () => {
    const [one] = await hold('one', 'other', 'third');
    const { url } = await start(platform, { release: true });
    const { page } = await look(url);
    const late: Gate[] = [];
    await page.route('**/release', async (route) => {
      const gate = new Gate();
      late.push(gate);
      await gate.opened;
      await route.continue();
    });
    const dialog = page.getByRole('dialog', { name: 'Release this lock?' });
    const question = async (key: string): Promise<void> => {
      await page.getByRole('button', { name: `Release ${key} …` }).click();
    };
    const changeOfMind = async (from: string, to: string): Promise<void> => {
      const before = late.length;
      await question(from);
      await page.locator('#release').click();
      await until('it is asked', () => late.length > before);
      await page.keyboard.press('Escape');
      await question(to);
    };

    await changeOfMind('one', 'third');
    await one!.release();
    await hold('one');
    late[0]!.open();
    await page.waitForSelector('#notice:has-text("one: Another caller holds it now")');
    expect(await page.locator('#changed').textContent()).toBe('');
    expect(await page.locator('#release').isDisabled()).toBe(false);
    await page.keyboard.press('Escape');

    await changeOfMind('other', 'third');
    late[1]!.open();
    await page.waitForSelector('#notice:has-text("other was released.")');
    expect(await dialog.isVisible()).toBe(true);
    expect(await page.locator('#chosen').textContent()).toBe('third');
  });

  it('shows every key as text', async () => {
    const hostile = [
      '<img src=x onerror=alert(1)>',
      `"'><script>alert(2)</script>`,
      'javascript:alert(3)',
      'evil\u202Egnp.exe',
      'zero\u200Bwidth',
      'two  spaces ',
      '&lt;b&gt;',
      '日本語 🔒',
    ];
    await hold(...hostile);
    const { url } = await start(platform, { release: true });
    const { page, complaints } = await look(url);
    await until('all are there', async () => (await page.locator('tbody tr').count()) === 8);
    expect((await keysOn(page)).sort()).toEqual(
      hostile.map((key) => key.replace('\u202E', 'U+202E').replace('\u200B', 'U+200B')).sort(),
    );
    expect(await page.locator('tbody img, tbody script, tbody b').count()).toBe(0);
    await page.getByRole('button', { name: hostile[0] }).click();
    expect(await page.locator('#chosen').textContent()).toBe(hostile[0]);
    await page.locator('#release').click();
    await page.waitForSelector('text=was released.');
    expect(complaints).toEqual([]);
  });
});

when('in a browser, the board', () => {
  it('loses the row of a process that died, one ttl later', async () => {
    const worker = await Worker.start({ redis: bench.redis.url, ttl: 3_000 });
    await worker.call('acquire', 'doomed');
    const { url } = await start('Express');
    const { page, complaints } = await look(url);
    await page.waitForSelector('text=doomed');
    expect((await rowOf(page, 'doomed'))['holder']).toContain(`pid ${worker.pid}`);
    await worker.kill();
    expect(await keysOn(page)).toEqual(['doomed']);
    await page.waitForSelector('text=No lock is held. It appears here as soon as one is.');
    expect(await keysOn(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('says that the connection is lost, keeps what it knew, and comes back by itself', async () => {
    await hold('before');
    const { app, url } = await start('Fastify');
    const { page } = await look(url);
    await page.waitForSelector('text=before');
    await app.close();
    await page.waitForSelector('text=No connection to the application, trying again.');
    expect(await status(page)).toMatch(/Shown as of .+\.$/);
    expect(await keysOn(page)).toEqual(['before']);
    expect(await page.locator('#frame').getAttribute('data-stale')).toBe('');
    await hold('after');
    await start('Fastify', {}, { port: Number(new URL(url).port) });
    await page.waitForSelector('text=after');
    expect(await status(page)).toBe('Live, every 0.5 s');
    expect(await page.locator('#frame').getAttribute('data-stale')).toBeNull();
  });

  it('says that Redis is gone, keeps what it knew, and goes on when Redis is back', async () => {
    const redis = await RedisProcess.start();
    closing.push(() => redis.stop());
    const { app, url } = await start('Express', {}, { redis: redis.url });
    const locks = app.get(LockService);
    await locks.acquire('before');
    const { page, complaints } = await look(url);
    await page.waitForSelector('text=before');
    await redis.kill();
    await page.waitForSelector('#status[data-state=trouble]');
    expect(await status(page)).toMatch(/^The lock store failed: .* Shown as of .+\.$/);
    expect(await keysOn(page)).toEqual(['before']);
    await redis.run();
    await page.waitForSelector('#status[data-state=live]');
    await until('Redis takes locks', () => locks.acquire('after').catch(() => undefined));
    await page.waitForSelector('text=after');
    expect(complaints).toEqual([]);
  });

  it('goes on at another replica when its own ends, and releases by whichever is asked', async () => {
    const [lease] = await hold('first', 'second');
    const replicas = [
      await start('Express', { release: true }),
      await start('Fastify', { release: true }),
    ];
    let [turn, ended] = [0, false];
    const proxied = await proxy(() => new URL(replicas[ended ? 1 : turn++ % 2]!.url));
    const { page } = await look(`${proxied}/locks`);
    const viewers = (): number[] => replicas.map(({ app }) => app.get(LockBoard).viewers);
    await until('one replica is asked for the events', () => viewers().includes(1));
    turn = viewers().indexOf(0); // the other one is asked next
    await page.getByRole('button', { name: 'Release first …' }).click();
    await page.locator('#release').click();
    await page.waitForSelector('text=first was released.');
    await until('the holder is told', () => lease!.signal.aborted);

    if (viewers()[0] === 0) replicas.reverse();
    ended = true;
    await replicas[0]!.app.close();
    await until('it looks at the other', () => replicas[1]!.app.get(LockBoard).viewers === 1);
    await hold('third');
    await page.waitForSelector('text=third');
    expect(await keysOn(page)).toEqual(['second', 'third']);
    expect((await status(page))!).toBe('Live, every 0.5 s');
  });

  it('asks again when it is told to, and nobody who looks notices', async () => {
    const viewers = jest.spyOn(Viewer.prototype, 'show');
    const { app, url } = await start('Express');
    const { page, complaints } = await look(url);
    await until('it is live', async () => (await status(page))!.startsWith('Live'));
    const [viewer] = viewers.mock.contexts as Viewer[];
    await page.evaluate(`{
      globalThis.said = [];
      const status = document.querySelector('#status');
      new MutationObserver(() => said.push(status.textContent)).observe(status, { childList: true });
    }`);
    viewer!.end(event('again', {}));
    await until('another looks', () => viewers.mock.contexts.at(-1) !== viewer);
    await hold('later');
    await page.waitForSelector('text=later');
    expect(await page.evaluate('said')).toEqual([]);
    expect(app.get(LockBoard).viewers).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('finds its own below a proxy that has another path and host', async () => {
    const [lease] = await hold('proxied');
    const { url } = await start('Express', { release: true });
    const proxied = await proxy(() => new URL(url), { host: 'internal.example' });
    const { page, complaints } = await look(`${proxied}/ops/redis/locks/`);
    await page.getByRole('button', { name: 'Release proxied …' }).click();
    await page.locator('#release').click();
    await page.waitForSelector('text=proxied was released.');
    await until('the holder is told', () => lease!.signal.aborted);
    expect(complaints).toEqual([]);
  });

  it.each(['asks', 'in the address'])(
    'works behind a guard that wants a password: %s',
    async (how) => {
      const guard: CanActivate = {
        canActivate(context: ExecutionContext) {
          const { headers } = context.switchToHttp().getRequest();
          const login = Buffer.from('ops:secret').toString('base64');
          if (headers.authorization === `Basic ${login}`) return true;
          context.switchToHttp().getResponse().header('WWW-Authenticate', 'Basic');
          throw new UnauthorizedException();
        },
      };
      const [lease] = await hold('private');
      const options = { open: false, guards: [guard], release: true };
      const { url } = await start('Fastify', options);
      const { page, complaints } =
        how === 'asks'
          ? await look(url, { httpCredentials: { username: 'ops', password: 'secret' } })
          : await look(url.replace('//', '//ops:secret@'));
      await page.getByRole('button', { name: 'Release private …' }).click();
      await page.locator('#release').click();
      await page.waitForSelector('text=private was released.');
      await until('the holder is told', () => lease!.signal.aborted);
      expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
    },
  );

  it('asks nothing while its tab is hidden', async () => {
    const { app, url } = await start('Express');
    const { page } = await look(url);
    const board = app.get(LockBoard);
    await until('it looks', () => board.viewers === 1);
    const hide = (hidden: boolean): Promise<unknown> =>
      page.evaluate(`
        Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));`);
    await hide(true);
    await until('it looks away', () => board.viewers === 0);
    await hide(false);
    await until('it looks again', () => board.viewers === 1);
  });

  it.each([
    ['light', 360],
    ['dark', 360],
    ['light', 1_280],
    ['dark', 1_280],
  ] as const)('is readable in %s at a width of %i', async (colorScheme, width) => {
    await hold('x'.repeat(500), 'account:1');
    const waiting = rival.acquire('account:1', { wait: '5m' });
    closing.unshift(async () => (await waiting).release());
    const { app, url } = await start('Express', { release: true });
    const viewport = { width, height: 800 };
    const { page, complaints } = await look(url, { colorScheme, viewport });
    await page.waitForSelector('text=account:1');
    const wider = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate(wider)).toBe(0);
    await page.evaluate(AXE);
    const faults = (): Promise<unknown> =>
      page.evaluate(`axe.run().then(({ violations }) =>
        violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`);
    expect(await faults()).toEqual([]);
    const table = page.getByRole('table', { name: 'Locks that are held now' });
    expect(await table.getByRole('row').count()).toBe(3);
    expect(await table.getByRole('columnheader').count()).toBe(8);
    expect(await table.getByRole('rowheader').count()).toBe(2);
    expect(await page.getByRole('searchbox', { name: 'Filter' }).count()).toBe(1);
    const pictures = process.env['BOARD_PICTURES'];
    if (pictures) await page.screenshot({ path: `${pictures}/${colorScheme}-${width}.png` });
    await page.getByRole('button', { name: 'Waiting' }).click();
    expect((await keysOn(page))[0]).toBe('account:1');
    await page.getByRole('button', { name: 'Release account:1 …' }).click();
    expect(await faults()).toEqual([]);
    await page.keyboard.press('Escape');
    expect(complaints).toEqual([]);
    await app.close();
    await page.waitForSelector('#status[data-state=lost]');
    expect(await faults()).toEqual([]);
  });

  it('would run no script that came in by a mistake', async () => {
    const { url } = await start('Express');
    const { page, complaints } = await look(url);
    const write = `document.body.innerHTML = '<img src=x onerror="document.title = 1">'`;
    await expect(page.evaluate(write)).rejects.toThrow('TrustedHTML');
    const handle = `document.body.setAttribute('onclick', 'document.title = "ran"'); document.body.click();`;
    await expect(page.evaluate(handle)).rejects.toThrow('TrustedScript');
    await page.evaluate(`{
      const element = document.createElement('div');
      element.style.cssText = 'color: red'; // a style by script is no inline style
      element.setAttribute('style', 'color: red');
      document.body.append(element);
    }`);
    expect(await page.title()).toBe('Locks');
    expect(complaints).toHaveLength(3);
    expect(complaints[2]).toContain('Content Security Policy');
  });
});

async function start(
  platform: Platform,
  options: Partial<LockBoardOptions> = {},
  { port = 0, redis = bench.redis.url } = {},
): Promise<{ app: INestApplication; url: string }> {
  const board = LockBoardModule.forRoot({ open: true, interval: 500, ...options });
  const module = await bench.builder({ imports: [board] }, { redis }).compile();
  const settings = { logger: false, forceCloseConnections: true } as const; // browsers open some in advance
  const adapter = platform === 'Express' ? new ExpressAdapter() : new FastifyAdapter(settings);
  const app: INestApplication = module.createNestApplication(adapter, settings);
  app.setGlobalPrefix('api').enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
  await app.listen(port, '127.0.0.1');
  closing.push(() => app.getHttpServer().listening && app.close());
  return { app, url: `${await app.getUrl()}/api/locks` };
}

async function look(url: string, options?: BrowserContextOptions): Promise<Opened> {
  const opened = await open(url, options);
  closing.push(() => opened.close());
  return opened;
}

async function hold(...keys: string[]): Promise<Lease[]> {
  const leases = await Promise.all(keys.map((key) => rival.acquire(key, { label: 'Seats.hold' })));
  closing.push(() => Promise.all(leases.map((lease) => lease.release())));
  return leases;
}

/** A reverse proxy that knows the board as `…/locks`, and asks a replica of choice for it. */
async function proxy(replica: () => URL, headers: Record<string, string> = {}): Promise<string> {
  const server = createServer((from, to) => {
    const { hostname, port, pathname } = replica();
    const path = pathname + from.url!.replace(/^.*\/locks/, '');
    const options = {
      hostname,
      port,
      path,
      method: from.method,
      headers: { ...from.headers, ...headers },
    };
    const passed = request(options, (answer) => {
      to.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(to);
    });
    passed.on('error', () => to.destroy());
    to.on('close', () => passed.destroy());
    from.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => (server.closeAllConnections(), server.close()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
