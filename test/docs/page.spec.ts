import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { statSync } from 'node:fs';
import request from 'supertest';
import { RedisProcess } from '../../tools/redis-server.js';
import { pasted } from './pages.js';

let redis: RedisProcess;
let page: any;
beforeAll(async () => {
  redis = await RedisProcess.start();
  process.env['REDIS_URL'] = redis.url;
  process.env['BOARD_PASSWORD'] = 'secret';
  page = await pasted('docs/page.md');
});
afterAll(() => redis.stop());

it('The page is behind the guard that it shows', async () => {
  const module = await Test.createTestingModule({ imports: [page.AppModule] }).compile();
  const app = await module.createNestApplication({ logger: false }).init();
  const http = request(app.getHttpServer());
  const refused = await http.get('/admin/locks').expect(401);
  expect(refused.headers['www-authenticate']).toContain('Basic');
  await http.get('/admin/locks').auth('ops', 'guess').expect(401);
  await http.get('/admin/locks/events').expect(401);
  await http.get('/admin/locks').auth('ops', 'secret').expect(200);
  await app.close();
});

it.each(['light', 'dark'])('The page’s %s picture is small', (scheme) => {
  expect(statSync(`docs/public/page-${scheme}.png`).size).toBeLessThan(60_000);
});
