import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  applyDecorators,
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  type NestInterceptor,
  Post,
  UseInterceptors,
} from '@nestjs/common';
import { FileInterceptor } from '@nestjs/platform-express';
import { concatMap, from, type Observable } from 'rxjs';
import { LockedRequest, LockInterceptor, LockService } from '../../lib/index.js';
import { PLATFORMS, useBench } from '../support/nest-app.js';

const bench = useBench();
let rival: LockService;
beforeAll(async () => {
  rival = await bench.rival();
});

/** Says of the latest request whether its lock was held when its transaction began, and after it has committed. */
let steps: string[] = [];
const step = async (said: string): Promise<void> => {
  steps.push(`${said} ${(await rival.inspect('row')).state}`);
};

@Injectable()
class Transaction implements NestInterceptor {
  async intercept(_: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    await step('begin');
    const committed = async (answer: unknown): Promise<unknown> => {
      await step('commit');
      return answer;
    };
    return next.handle().pipe(concatMap((answer) => from(committed(answer))));
  }
}

/** A controller whose handlers have nothing but what each class below puts on it. */
class Handlers {
  @Get()
  async get(): Promise<string> {
    return 'done';
  }
}

@Controller('above')
class Above {
  @LockedRequest('row')
  @UseInterceptors(Transaction)
  @Get()
  async get(): Promise<string> {
    return 'done';
  }
}

@Controller('below')
class Below {
  @UseInterceptors(Transaction)
  @LockedRequest('row')
  @Get()
  async get(): Promise<string> {
    return 'done';
  }
}

@Controller('applied-first')
class AppliedFirst {
  @applyDecorators(LockedRequest('row'), UseInterceptors(Transaction))
  @Get()
  async get(): Promise<string> {
    return 'done';
  }
}

@Controller('applied-last')
class AppliedLast {
  @applyDecorators(Get(), UseInterceptors(Transaction), LockedRequest('row'))
  async get(): Promise<string> {
    return 'done';
  }
}

@LockedRequest('row')
@UseInterceptors(Transaction)
@Controller('controller-above')
class ControllerAbove extends Handlers {}

@UseInterceptors(Transaction)
@LockedRequest('row')
@Controller('controller-below')
class ControllerBelow extends Handlers {}

@UseInterceptors(Transaction)
class Transactional extends Handlers {}

@LockedRequest('row')
@Controller('parent-transactional')
class ParentTransactional extends Transactional {}

@LockedRequest('row')
class Guarded extends Handlers {}

@UseInterceptors(Transaction)
@Controller('parent-locked')
class ParentLocked extends Guarded {}

@LockedRequest('row')
@Controller('inside-controller')
class InsideController {
  @UseInterceptors(Transaction)
  @Get()
  async get(): Promise<string> {
    return 'done';
  }
}

@UseInterceptors(Transaction)
@Controller('around')
class Around {
  @LockedRequest('row')
  @Get()
  async get(): Promise<string> {
    return 'done';
  }

  @LockedRequest('row')
  @UseInterceptors(Transaction, LockInterceptor)
  @Get('by-hand')
  async byHand(): Promise<string> {
    return 'done';
  }
}

const controllers = [
  Above,
  Below,
  AppliedFirst,
  AppliedLast,
  ControllerAbove,
  ControllerBelow,
  ParentTransactional,
  ParentLocked,
  InsideController,
  Around,
];

describe.each(PLATFORMS)('beside @UseInterceptors on %s, @LockedRequest', (platform) => {
  let url: string;
  beforeAll(async () => {
    ({ url } = await bench.server(platform, { controllers }));
  });
  const stepsOf = async (path: string): Promise<string[]> => {
    steps = [];
    expect(await (await fetch(`${url}/${path}`)).text()).toBe('done');
    return steps;
  };

  it.each([
    'above',
    'below',
    'applied-first',
    'applied-last',
    'controller-above',
    'controller-below',
    'parent-transactional',
    'parent-locked',
    'inside-controller',
  ])('is around the transaction, in whatever order they stand: %s', async (path) => {
    expect(await stepsOf(path)).toEqual(['begin held', 'commit held']);
  });

  it('on a handler is inside the interceptors of its controller', async () => {
    expect(await stepsOf('around')).toEqual(['begin free', 'commit free']);
  });

  it('acts where LockInterceptor stands by hand beneath it', async () => {
    expect(await stepsOf('around/by-hand')).toEqual([
      'begin free',
      'begin free',
      'commit free',
      'commit free',
    ]);
  });
});

describe('@LockedRequest with a key from a multipart body', () => {
  const ran = async (): Promise<string> => (await rival.inspect('file:7')).state;

  @Controller()
  class Files {
    @LockedRequest('file:<body.id>')
    @UseInterceptors(FileInterceptor('content'), LockInterceptor)
    @Post('by-hand')
    async byHand(): Promise<string> {
      return ran();
    }

    @LockedRequest('file:<body.id>')
    @UseInterceptors(FileInterceptor('content'))
    @Post('inside')
    async inside(): Promise<string> {
      return ran();
    }
  }

  @UseInterceptors(FileInterceptor('content'))
  @Controller()
  class Uploads {
    @LockedRequest('file:<body.id>')
    @Post('controller')
    async controller(): Promise<string> {
      return ran();
    }
  }

  let url: string;
  beforeAll(async () => {
    ({ url } = await bench.server('Express', { controllers: [Files, Uploads] }));
  });
  const post = (path: string): Promise<Response> => {
    const body = new FormData();
    body.append('id', '7');
    body.append('content', new Blob(['text']), 'a.txt');
    return fetch(`${url}/${path}`, { method: 'POST', body });
  };

  it.each(['by-hand', 'controller'])('has it of a FileInterceptor around it: %s', async (path) => {
    expect(await (await post(path)).text()).toBe('held');
  });

  it('answers 400 where the FileInterceptor is inside', async () => {
    expect((await post('inside')).status).toBe(400);
  });
});
