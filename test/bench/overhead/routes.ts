import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  type NestInterceptor,
  Param,
  UseInterceptors,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Observable } from 'rxjs';
import { library, testing } from '../adapters/library.js';
import { type Comparison, KEYS } from './subject.js';

/** What `@LockedRequest` on a route costs; requests are injected, no socket is in between. */
export async function routes(): Promise<Comparison> {
  const { LockedRequest } = await library();
  const { LockTestingModule } = await testing();

  @Injectable()
  class EmptyInterceptor implements NestInterceptor {
    intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
      return next.handle();
    }
  }

  @Controller()
  class Accounts {
    @UseInterceptors(EmptyInterceptor)
    @Get('plain/:id')
    async plain(@Param('id') id: string): Promise<string> {
      return id;
    }

    @LockedRequest('account:<params.id>')
    @Get('locked/:id')
    async locked(@Param('id') id: string): Promise<string> {
      return id;
    }
  }

  const imports = [LockTestingModule.forRoot()];
  const app = await NestFactory.create<NestFastifyApplication>(
    { module: class {}, imports, controllers: [Accounts] },
    new FastifyAdapter(),
    { logger: false },
  );
  await app.init();
  const get = async (path: string, turn: number): Promise<void> => {
    const url = `/${path}/${turn % KEYS}`;
    const { statusCode } = await app.inject({ method: 'GET', url });
    if (statusCode !== 200) throw new Error(`GET ${url} answered ${statusCode}.`);
  };
  return {
    reference: { name: 'empty interceptor', call: (turn) => get('plain', turn) },
    subjects: [{ name: '@LockedRequest', call: (turn) => get('locked', turn) }],
    close: () => app.close(),
  };
}
