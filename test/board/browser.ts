import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

const tool = '../../tools/browser.mjs';
const { openBrowser } = (await import(tool)) as { openBrowser: () => Promise<Browser> };

/** Chromium; undefined where there is none and none can be installed without a question. */
export const chromium = await openBrowser().catch((error: Error) => {
  if (error.message.startsWith('There is no Chromium')) return undefined;
  throw error;
});

/** A page and all that the browser has against it: errors, warnings, what its policy refused, requests to elsewhere. */
export interface Opened {
  readonly page: Page;
  readonly complaints: string[];
  close(): Promise<void>;
}

export async function open(url: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await chromium!.newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (said) => {
    if (['error', 'warning'].includes(said.type())) complaints.push(said.text());
  });
  page.on('request', (request) => {
    const from = new URL(request.url());
    if (!/^(data|blob):$/.test(from.protocol) && from.origin !== new URL(url).origin) {
      complaints.push(`asks ${request.url()}`);
    }
  });
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url);
  return { page, complaints, close: () => context.close() };
}

/** The keys of the rows, from above. */
export function keysOn(page: Page): Promise<string[]> {
  return page.locator('tbody th').allTextContents();
}

/** What the page says of itself. */
export function status(page: Page): Promise<string | null> {
  return page.locator('#status').textContent();
}

/** The cells of a lock's row by their columns. */
export async function rowOf(page: Page, key: string): Promise<Record<string, string>> {
  const row = page.locator('tbody tr', { has: page.getByText(key, { exact: true }) });
  const cells = await row.locator('td[data-cell]').all();
  return Object.fromEntries(
    await Promise.all(
      cells.map(async (cell) => [await cell.getAttribute('data-cell'), await cell.textContent()]),
    ),
  ) as Record<string, string>;
}

/** Finds what people who see, hear or move differently would stumble over: contrast, names, roles. */
export const AXE = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
);
