import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { expectPublic, failing, SECRET } from '../support/failing.js';
import { until } from '../support/until.js';
import { type Broker, BROKERS } from './absent-brokers.js';
import { accountMessages } from './account-messages.js';

const { server, log } = failing();
const accounts = accountMessages(server);

describe.each(Object.keys(BROKERS))('over %s', (name) => {
  describe.each([true, false])(
    'in a hybrid application, inheritAppConfig: %s',
    (inheritAppConfig) => {
      let app: INestApplication;
      let broker: Broker;
      beforeAll(async () => {
        broker = BROKERS[name]!();
        app = await NestFactory.create(accounts, { logger: false });
        app.connectMicroservice({ strategy: broker.strategy }, { inheritAppConfig });
        await app.startAllMicroservices();
        await app.init();
      });
      afterAll(() => app.close());

      it.each([
        ['locked', SECRET, 'LOCK_NOT_ACQUIRED', 1],
        ['request', SECRET, 'LOCK_NOT_ACQUIRED', 1],
        ['fails', 'store', 'LOCK_STORE', 1],
        ['fails', 'lost', 'LEASE_LOST', undefined],
      ])('the client is told: %s %s', async (pattern, data, code, retryAfter) => {
        const told = await broker.deliver(pattern, data);
        expectPublic(told);
        expect(told).toEqual({
          status: 'error',
          code,
          message: expect.any(String),
          ...(retryAfter === undefined ? {} : { retryAfter }),
        });
        expect(log.lines.length).toBe(pattern === 'fails' ? 1 : 0);
      });

      it('an event is logged once, and Kafka may deliver it again', async () => {
        const delivered = await broker
          .deliver('event', SECRET, true)
          .catch((error: unknown) => error);
        expect((delivered as { code?: string } | undefined)?.code).toBe(
          name === 'Kafka' ? 'LOCK_NOT_ACQUIRED' : undefined,
        );
        await until('the event is logged', () => log.lines.length > 0);
        // A message behind it: what the event had to say is said.
        await broker.deliver('locked', SECRET);
        expect(log.lines).toEqual([{ level: 'warn', text: expect.stringContaining(SECRET) }]);
      });
    },
  );
});
