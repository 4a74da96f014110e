// Routes that wait long for their locks, and an interceptor that hears what becomes of each request.
import {
  applyDecorators,
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  type NestInterceptor,
  Param,
  UseInterceptors,
} from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { catchError, Observable, of, throwError } from 'rxjs';
import { Locked, LockedRequest } from '../../lib/index.js';
import { Gate } from '../support/gate.js';

/** How a request goes in one test: its handler begins at `started`, and goes on with `work`. */
class Course {
  runs = 0;
  failures: unknown[] = [];
  started = new Gate();
  work = new Gate();
  /** The client has left, or has its answer. */
  gone = new Gate();

  /** For the next test. */
  reset(): void {
    Object.assign(this, new Course());
  }
}

export const course = new Course();

async function run(): Promise<string> {
  course.runs += 1;
  course.started.open();
  return course.work.after(Promise.resolve('done'));
}

/** Around the locks: hears how each request ends, and when its client has none any more. */
@Injectable()
class Hears implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const response = context.switchToHttp().getResponse<ServerResponse | { raw: ServerResponse }>();
    ('raw' in response ? response.raw : response).once('close', () => course.gone.open());
    return next.handle().pipe(
      catchError((error: unknown) => {
        course.failures.push(error);
        return throwError(() => error);
      }),
    );
  }
}

@UseInterceptors(Hears)
@Controller()
export class Routes {
  @LockedRequest('key:<params.id>', { wait: '10m' })
  @Get('request/:id')
  async request(): Promise<string> {
    return run();
  }

  @LockedRequest('outer:<params.id>')
  @LockedRequest('key:<params.id>', { wait: '10m' })
  @Get('inner/:id')
  async inner(): Promise<string> {
    return run();
  }

  @LockedRequest('key:<params.id>', { wait: '10m', leaveWithClient: false })
  @Get('stays/:id')
  async stays(): Promise<string> {
    return run();
  }

  @Locked('key:<id>', { wait: '10m', leaveWithClient: true })
  @Get('method/:id')
  async method(@Param('id') _id: string): Promise<string> {
    return run();
  }

  @Get('below/:id')
  @Locked('key:<id>', { wait: '10m', leaveWithClient: true })
  async below(@Param('id') _id: string): Promise<string> {
    return run();
  }

  @applyDecorators(
    Get('several/:id'),
    Locked(['key:<0>', 'other:<0>'], { wait: '10m', leaveWithClient: true }),
  )
  async several(@Param('id') _id: string): Promise<string> {
    return run();
  }

  @Locked('key:<id>', { wait: '10m', leaveWithClient: true })
  @Get('observable/:id')
  observable(@Param('id') _id: string): Observable<string> {
    course.runs += 1;
    return of('done');
  }

  @Locked('key:<id>', { wait: '10m' })
  @Get('method-stays/:id')
  async methodStays(@Param('id') _id: string): Promise<string> {
    return run();
  }
}
