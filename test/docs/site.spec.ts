import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { filesBelow } from '../architecture/files-below.js';

/** What this spec uses of playwright-core. */
interface Page {
  goto(url: string, options?: object): Promise<unknown>;
  on(event: string, listener: (about: never) => void): void;
  evaluate<T>(code: string): Promise<T>;
  screenshot(options: object): Promise<unknown>;
  close(): Promise<void>;
  click(selector: string): Promise<void>;
  fill(selector: string, text: string): Promise<void>;
  waitForSelector(selector: string): Promise<{ textContent(): Promise<string | null> }>;
}
interface Context {
  newPage(): Promise<Page>;
  close(): Promise<void>;
}
interface Browser {
  newContext(options: object): Promise<Context>;
  close(): Promise<void>;
}

const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};
/** The width of a small phone, and of a laptop. */
const WIDTHS = { phone: 360, laptop: 1_280 };

/** Pictures for people to look at: kept where this says. */
const pictures = process.env['DOCS_PICTURES'];

describe('the site', () => {
  let folder: string;
  let server: Server;
  let browser: Browser;
  let origin: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-site-'));
    await promisify(execFile)(process.execPath, ['tools/docs.mjs', 'build', '--outDir', folder]);
    server = createServer(({ url }, response) => {
      try {
        const path = decodeURIComponent(new URL(url!, 'http://site').pathname);
        const body = readFileSync(join(folder, path.endsWith('/') ? `${path}index.html` : path));
        response.setHeader('Content-Type', TYPES[extname(path) || '.html'] ?? 'text/plain');
        response.end(body);
      } catch {
        response.writeHead(404).end();
      }
    });
    await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const tool = '../../tools/browser.mjs';
    const { openBrowser } = (await import(tool)) as { openBrowser: () => Promise<Browser> };
    browser = await openBrowser();
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The built pages: those that differ in more than their text, so some of the API and of the decisions. */
  function pages(): string[] {
    const all = filesBelow(folder, '.html').map((path) => path.slice(folder.length));
    const alike = /^\/(api|decisions)\//;
    const some = /\/(index|LockService|RedisLockOptions|001-[a-z-]+)\.html$/;
    return all.filter((path) => !alike.test(path) || some.test(path));
  }

  it('has every page, with its API', () => {
    expect(pages().length).toBeGreaterThan(15);
    expect(pages()).toContain('/api/nest-redis-lock/classes/LockService.html');
    expect(pages()).toContain('/decisions/index.html');
    expect(statSync(resolve(folder, 'bench/results.json')).size).toBeGreaterThan(1_000);
  });

  it.each([
    ['light', 'phone'],
    ['dark', 'phone'],
    ['dark', 'laptop'],
  ] as const)(
    'opens each page in %s on a %s without an error, a request to elsewhere or a scroll bar at its foot',
    async (colorScheme, device) => {
      const complaints: string[] = [];
      const viewport = { width: WIDTHS[device], height: 800 };
      const context = await browser.newContext({ colorScheme, viewport });
      const page = await context.newPage();
      let path = '';
      const complain = (what: string): void => void complaints.push(`${path}: ${what}`);
      page.on('pageerror', ({ message }: Error) => complain(message));
      page.on('console', (said: { type(): string; text(): string }) => {
        if (said.type() === 'error' || said.type() === 'warning') complain(said.text());
      });
      page.on('request', (request: { url(): string }) => {
        const url = request.url();
        if (!url.startsWith(origin) && !url.startsWith('data:')) complain(`asks ${url}`);
      });
      page.on(
        'requestfailed',
        (request: { url(): string; failure(): { errorText: string } | null }) => {
          const why = request.failure()?.errorText ?? '';
          if (why !== 'net::ERR_ABORTED') complain(`${why} for ${request.url()}`); // by the next page
        },
      );
      page.on('response', (response: { status(): number; url(): string }) => {
        if (response.status() >= 400) complain(`${response.status()} for ${response.url()}`);
      });
      for (path of pages()) {
        await page.goto(origin + path, { waitUntil: 'networkidle' });
        const wider = await page.evaluate<number>(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        if (wider > 0) complain(`${wider} px too wide`);
        if (pictures) {
          const name = `${path.slice(1).replaceAll('/', '-')}.${colorScheme}.${device}.png`;
          await page.screenshot({ path: join(pictures, name), fullPage: device === 'phone' });
        }
      }
      await context.close();
      expect(complaints.filter((each) => !each.startsWith('/404.html'))).toEqual([]);
    },
  );

  it('finds the text of an error', async () => {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
    const page = await context.newPage();
    await page.goto(`${origin}/`, { waitUntil: 'networkidle' });
    await page.click('.DocSearch-Button');
    await page.fill(
      '.search-input',
      'Lock "account:42" was not acquired within 10000 ms: others hold it.',
    );
    const first = await page.waitForSelector('.results .result');
    expect(await first.textContent()).toContain('was not acquired within');
    await context.close();
  });
});
