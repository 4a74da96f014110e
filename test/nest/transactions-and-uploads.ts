// Controllers with a lock and a transaction, in every order, or with a lock and an upload.
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
import { LockedRequest, LockInterceptor, type LockService } from '../../lib/index.js';

/** Another replica, which notes whether the lock of the latest request was held when its transaction began, and after it has committed. */
class Witness {
  locks!: LockService;
  steps: string[] = [];

  async note(said: string): Promise<void> {
    this.steps.push(`${said} ${(await this.locks.inspect('row')).state}`);
  }
}

export const witness = new Witness();

@Injectable()
class Transaction implements NestInterceptor {
  async intercept(_: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    await witness.note('begin');
    const committed = async (answer: unknown): Promise<unknown> => {
      await witness.note('commit');
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

export const transactional = [
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

/** How its file is locked while a handler runs. */
const ran = async (): Promise<string> => (await witness.locks.inspect('file:7')).state;

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

export const uploads = [Files, Uploads];
