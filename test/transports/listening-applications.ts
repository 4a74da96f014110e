import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  type ClientProxy,
  ClientProxyFactory,
  type MicroserviceOptions,
} from '@nestjs/microservices';
import { type Observable, throwError } from 'rxjs';

/** How an application may listen to messages. */
export const APPLICATIONS = [
  'a microservice',
  'a hybrid that inherits',
  'a hybrid that does not',
] as const;
type Kind = (typeof APPLICATIONS)[number];

/** Applications that listen to messages, and clients that send them. */
export class ListeningApplications {
  readonly #ended: (() => unknown)[] = [];

  async start(
    module: Type,
    kind: Kind,
    options: readonly MicroserviceOptions[],
    filter?: ExceptionFilter,
  ): Promise<void> {
    if (kind === 'a microservice') {
      for (const each of options) {
        const app = await NestFactory.createMicroservice(module, {
          ...each,
          logger: false,
        } as never);
        this.#ended.push(() => app.close());
        if (filter) app.useGlobalFilters(filter);
        await app.listen();
      }
      return;
    }
    const app = await NestFactory.create(module, { logger: false });
    this.#ended.push(() => app.close());
    if (filter) app.useGlobalFilters(filter);
    for (const each of options) {
      app.connectMicroservice(each, { inheritAppConfig: kind === 'a hybrid that inherits' });
    }
    await app.startAllMicroservices();
    await app.init();
  }

  connect(options: MicroserviceOptions): ClientProxy {
    const client: ClientProxy = ClientProxyFactory.create(options as never) as never;
    this.#ended.push(() => client.close());
    return client;
  }

  /** What a description has started: all applications hear all messages of one Redis. */
  async end(): Promise<void> {
    for (const end of this.#ended.splice(0).reverse()) await end();
  }
}

/** An application's own filter for messages. */
@Catch()
export class CatchesAll implements ExceptionFilter {
  catch(exception: unknown, _: ArgumentsHost): Observable<never> {
    const status = exception instanceof HttpException ? exception.getStatus() : 500;
    const { message } = exception as Error;
    return throwError(() => ({ by: 'CatchesAll', status, message }));
  }
}
