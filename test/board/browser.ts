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
