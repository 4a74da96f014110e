import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { readFileSync } from 'node:fs';
import request from 'supertest';
import { LockService, type LockStoreError } from 'nest-redis-lock';
import { RedisProcess } from '../../tools/redis-server.js';
import { until } from '../support/until.js';
import { pasted, textOf } from './pages.js';

const PAGE = 'docs/metrics-and-traces.md';

let redis: RedisProcess;
let page: any;
let app: INestApplication;
let scraped: string;

beforeAll(async () => {
  redis = await RedisProcess.start();
  process.env['REDIS_URL'] = redis.url; // which the page reads
  page = await pasted<any>(PAGE);
  page.stopTracing();
  page.stopInstrumenting();
  const module = await Test.createTestingModule({ imports: [page.AppModule] }).compile();
  app = await module.createNestApplication({ logger: false }).init();
  scraped = await scrape(app);
});

afterAll(async () => {
  await app.close();
  await redis.stop();
});

describe('what Metrics and traces shows', () => {
  it('is a scrape with every metric that the page names', () => {
    const shown = metricsIn(scraped);
    expect(shown.size).toBe(7);
    expect(metricsIn(textOf(PAGE))).toEqual(shown);
  });
});

describe('the dashboard', () => {
  const text = readFileSync('docs/public/grafana-dashboard.json', 'utf8');
  const queries = (JSON.parse(text) as Dashboard).panels.flatMap(({ targets }) =>
    targets.map(({ expr }) => expr),
  );

  it('asks for nothing that a scrape does not have, metrics and labels, and shows every metric', () => {
    expect(metricsIn(text)).toEqual(metricsIn(scraped));
    const named = labelsIn(queries.join('\n'));
    expect(named.size).toBeGreaterThan(2);
    expect([...named].filter((label) => !labelsIn(scraped).has(label))).toEqual([]);
  });

  it('has a picture with the title of each panel', () => {
    const picture = readFileSync('docs/dashboard.svg', 'utf8');
    const titles = [...text.matchAll(/"title": "([^"]+)"/g)].map(([, title]) => title!);
    expect(titles.length).toBe(13);
    expect(titles.filter((title) => !picture.includes(`>${title}<`))).toEqual([]);
  });
});

describe('the alert rules', () => {
  const rules = readFileSync('docs/public/alert-rules.yml', 'utf8');

  it('ask for nothing that a scrape does not have: metrics, labels and bounds of buckets', () => {
    const [metrics, labels] = [metricsIn(rules), labelsIn(rules)];
    expect(metrics.size).toBe(5);
    expect([...metrics].filter((name) => !metricsIn(scraped).has(name))).toEqual([]);
    expect([...labels].sort()).toEqual(['error_type', 'le', 'lock_name']);
    expect([...labels].filter((label) => !labelsIn(scraped).has(label))).toEqual([]);
    const bounds = [...rules.matchAll(/le=~"(\d+)\(/g)].map(([, bound]) => `le="${bound}"`);
    expect(bounds).toEqual(['le="1"', 'le="60"']);
    expect(bounds.filter((bound) => !scraped.includes(bound))).toEqual([]);
  });

  it('know each code of a Redis that fails', () => {
    const codes: Record<LockStoreError['code'], true> = {
      LOCK_STORE: true,
      REPLICAS_NOT_REACHED: true,
      QUORUM_NOT_REACHED: true,
    };
    expect(rules).toContain(`error_type=~"${Object.keys(codes).join('|')}"`);
  });

  it('are each on the page', () => {
    const names = [...rules.matchAll(/alert: (\w+)/g)].map(([, name]) => name!);
    expect(names.filter((name) => !textOf(PAGE).includes(`| \`${name}\``))).toEqual([]);
  });
});

/** What an application shows that has locked, waited in vain and lost a lease. */
async function scrape(from: INestApplication): Promise<string> {
  const locks = from.get(LockService);
  await locks.withLock('account:1', { name: 'account:<id>' }, async () => 1);
  const lease = await locks.acquire('account:1', { name: 'account:<id>' });
  await locks.tryAcquire('account:1', { name: 'account:<id>' }); // in vain
  await locks.forceRelease('account:1');
  await until('the holder is told', () => lease.signal.aborted);
  return (await request(from.getHttpServer()).get('/metrics').expect(200)).text;
}

/** The names of metrics in a text, as Prometheus stores them, without the parts of a histogram. */
function metricsIn(text: string): Set<string> {
  const names = text.match(/\block_[a-z_]+/g) ?? [];
  const labels = ['lock_name', 'lock_mode', 'lock_topology'];
  return new Set(
    names
      .map((name) => name.replace(/_(bucket|sum|count)$/, ''))
      .filter((name) => !labels.includes(name)),
  );
}

/** The labels that a query compares or sums by, or that a scrape has. */
function labelsIn(text: string): Set<string> {
  const compared = [...text.matchAll(/(\w+)(?:[=!]~|!?=)"/g)].map(([, label]) => label!);
  const by = [...text.matchAll(/by \(([^)]*)\)/g)].flatMap(([, labels]) => labels!.split(', '));
  return new Set([...compared, ...by]);
}

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
}
