import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { filesBelow } from '../architecture/files-below.js';

/** What the spec of the site uses of playwright-core. */
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
/** The site of docs/, as it is built and served here, and a browser that opens its pages. */
export class Site {
  folder!: string;
  origin!: string;
  browser!: Browser;
  #server: Server | undefined;

  async open(): Promise<void> {
    this.folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-site-'));
    const build = ['tools/docs.mjs', 'build', '--outDir', this.folder];
    await promisify(execFile)(process.execPath, build);
    const server = createServer(({ url }, response) => {
      try {
        const path = decodeURIComponent(new URL(url!, 'http://site').pathname);
        const file = path.endsWith('/') ? `${path}index.html` : path;
        const body = readFileSync(join(this.folder, file));
        response.setHeader('Content-Type', TYPES[extname(path) || '.html'] ?? 'text/plain');
        response.end(body);
      } catch {
        response.writeHead(404).end();
      }
    });
    this.#server = server;
    await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const tool = '../../tools/browser.mjs';
    const { openBrowser } = (await import(tool)) as { openBrowser: () => Promise<Browser> };
    this.browser = await openBrowser();
  }

  /** The built pages: those that differ in more than their text, so some of the API and of the decisions. */
  pages(): string[] {
    const all = filesBelow(this.folder, '.html').map((path) => path.slice(this.folder.length));
    const alike = /^\/(api|decisions)\//;
    const some = /\/(index|LockService|RedisLockOptions|001-[a-z-]+)\.html$/;
    return all.filter((path) => !alike.test(path) || some.test(path));
  }

  async close(): Promise<void> {
    await this.browser?.close();
    this.#server?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
