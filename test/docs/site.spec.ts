import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Site } from './site-in-a-browser.js';

/** The width of a small phone, and of a laptop. */
const WIDTHS = { phone: 360, laptop: 1_280 };

/** Pictures for people to look at: kept where this says. */
const pictures = process.env['DOCS_PICTURES'];

describe('the site', () => {
  const site = new Site();
  beforeAll(() => site.open(), 600_000);
  afterAll(() => site.close());

  it('has every page, with its API', () => {
    expect(site.pages().length).toBeGreaterThan(15);
    expect(site.pages()).toContain('/api/nest-redis-lock/classes/LockService.html');
    expect(site.pages()).toContain('/decisions/index.html');
    expect(statSync(resolve(site.folder, 'bench/results.json')).size).toBeGreaterThan(1_000);
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
      const context = await site.browser.newContext({ colorScheme, viewport });
      const page = await context.newPage();
      let path = '';
      const complain = (what: string): void => void complaints.push(`${path}: ${what}`);
      page.on('pageerror', ({ message }: Error) => complain(message));
      page.on('console', (said: { type(): string; text(): string }) => {
        if (said.type() === 'error' || said.type() === 'warning') complain(said.text());
      });
      page.on('request', (request: { url(): string }) => {
        const url = request.url();
        if (!url.startsWith(site.origin) && !url.startsWith('data:')) complain(`asks ${url}`);
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
      for (path of site.pages()) {
        await page.goto(site.origin + path, { waitUntil: 'networkidle' });
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
    const context = await site.browser.newContext({ viewport: { width: 1_280, height: 800 } });
    const page = await context.newPage();
    await page.goto(`${site.origin}/`, { waitUntil: 'networkidle' });
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
