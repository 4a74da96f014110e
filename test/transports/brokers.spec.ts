// RabbitMQ, Kafka and NATS: Nest's own servers, without a broker behind them.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, type INestApplication, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  type CustomTransportStrategy,
  EventPattern,
  MessagePattern,
  ServerKafka,
  ServerNats,
  ServerRMQ,
} from '@nestjs/microservices';
import { Locked, LockedRequest } from '../../lib/index.js';
import { LockTestingModule } from '../../lib/memory/testing/index.js';
import { expectPublic, fail, failing, SECRET } from '../support/failing.js';
import { until } from '../support/until.js';

const { server, log } = failing();

@Controller()
class Accounts {
  @Locked('account:<id>', { wait: 0 })
  @MessagePattern('locked')
  async locked(id: string): Promise<string> {
    return id;
  }

  @LockedRequest('account:<data>', { wait: 0 })
  @MessagePattern('request')
  async request(id: string): Promise<string> {
    return id;
  }

  @Locked('fails:<kind>')
  @MessagePattern('fails')
  async fails(kind: string): Promise<void> {
    fail(kind);
  }

  @Locked('account:<id>', { wait: 0 })
  @EventPattern('event')
  async event(id: string): Promise<string> {
    return id;
  }
}

@Module({ imports: [LockTestingModule.forRoot({ server })], controllers: [Accounts] })
class Application {}

/** A server of Nest that meets its broker in this test alone. */
interface Broker {
  readonly strategy: CustomTransportStrategy;
  /** Delivers a message; the error in the first reply. Undefined for an event, which has none. */
  deliver(pattern: string, data: string, event?: boolean): Promise<unknown>;
}

/** Resolves with what is first put in. */
function firstOf(): { put(value: unknown): void; readonly value: Promise<unknown> } {
  let put!: (value: unknown) => void;
  const value = new Promise<unknown>((resolve) => (put = resolve));
  return { put, value };
}

/** The same server, which listens to nobody. */
function withoutBroker<Server extends CustomTransportStrategy>(strategy: Server): Server {
  strategy.listen = (listening: () => void) => listening();
  return strategy;
}

/** What Nest's clients send; an event has no id. */
function packet(pattern: string, data: string, event: boolean): object {
  return { pattern, data, ...(event ? {} : { id: '1' }) };
}

const BROKERS: Record<string, () => Broker> = {
  RabbitMQ() {
    class WithoutBroker extends ServerRMQ {
      protected override loadPackageSynchronously<T>(): T {
        return undefined as T;
      }
    }
    const strategy = withoutBroker(new WithoutBroker({}));
    return {
      strategy: strategy as never,
      async deliver(pattern, data, event = false) {
        const reply = firstOf();
        const channel = {
          close: () => {},
          sendToQueue: (_: string, body: Buffer) => reply.put(JSON.parse(String(body))),
        };
        (strategy as unknown as { channel: unknown }).channel = channel;
        const content = Buffer.from(JSON.stringify(packet(pattern, data, event)));
        const properties = { replyTo: 'replies', correlationId: '1' };
        await strategy.handleMessage({ content, properties } as never, channel);
        return event ? undefined : ((await reply.value) as { err: unknown }).err;
      },
    };
  },
  NATS() {
    const strategy = withoutBroker(new ServerNats({}));
    return {
      strategy: strategy as never,
      async deliver(pattern, data, event = false) {
        const reply = firstOf();
        await strategy.handleMessage(pattern, {
          subject: pattern,
          reply: 'replies',
          json: () => packet(pattern, data, event),
          respond: (body: string) => reply.put(JSON.parse(body)),
        } as never);
        return event ? undefined : ((await reply.value) as { err: unknown }).err;
      },
    };
  },
  Kafka() {
    const strategy = withoutBroker(new ServerKafka({}));
    return {
      strategy: strategy as never,
      async deliver(pattern, data, event = false) {
        const reply = firstOf();
        (strategy as unknown as { producer: unknown }).producer = {
          disconnect: () => {},
          send: ({ messages: [message] }: { messages: { headers: Record<string, Buffer> }[] }) =>
            reply.put(JSON.parse(String(message!.headers['kafka_nest-err']))),
        };
        const headers = event
          ? {}
          : { kafka_correlationId: Buffer.from('1'), kafka_replyTopic: Buffer.from('replies') };
        await strategy.handleMessage({
          topic: pattern,
          partition: 0,
          message: { key: null, value: Buffer.from(data), headers },
        } as never);
        return event ? undefined : reply.value;
      },
    };
  },
};

describe.each(Object.keys(BROKERS))('over %s', (name) => {
  describe.each([true, false])(
    'in a hybrid application, inheritAppConfig: %s',
    (inheritAppConfig) => {
      let app: INestApplication;
      let broker: Broker;
      beforeAll(async () => {
        broker = BROKERS[name]!();
        app = await NestFactory.create(Application, { logger: false });
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
