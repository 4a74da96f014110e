// RabbitMQ, Kafka and NATS: Nest's own servers, without a broker behind them.
import {
  type CustomTransportStrategy,
  ServerKafka,
  ServerNats,
  ServerRMQ,
} from '@nestjs/microservices';

/** A server of Nest that meets its broker in this test alone. */
export interface Broker {
  readonly strategy: CustomTransportStrategy;
  /** Delivers a message; the error in the first reply. Undefined for an event, which has none. */
  deliver(pattern: string, data: string, event?: boolean): Promise<unknown>;
}

export const BROKERS: Record<string, () => Broker> = {
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
