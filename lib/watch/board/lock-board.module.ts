import { type DynamicModule, Inject, Module, Optional } from '@nestjs/common';
import { LockOptionsError } from '../../engine/errors/index.js';
import type { LockService } from '../../nest/services/lock.service.js';
import { forRoot, lockServiceToken } from '../../nest/services/lock-service-token.js';
import { type BoardSettings, boardSettings, type LockBoardOptions } from './board-options.js';
import { LockBoard } from './lock-board.js';
import { boardController } from './lock-board.controller.js';

/**
 * A page that shows the held locks: by whom, for how long, and who waits. It loads nothing from other origins.
 * @example `@Module({ imports: [RedisLockModule.forRoot(), LockBoardModule.forRoot({ guards: [AdminGuard] })] })`
 * @publicApi
 */
@Module({})
export class LockBoardModule {
  /** @internal */
  constructor(@Optional() @Inject(LockBoard) board: LockBoard | undefined) {
    if (board) return;
    throw new LockOptionsError(
      'LockBoardModule stands among the imports as it is, without options: write LockBoardModule.forRoot({ guards: [YourAdminGuard] }).',
    );
  }

  /** @throws LockOptionsError when an option is wrong, or without `guards` and without `open: true`. */
  static forRoot(options: LockBoardOptions): DynamicModule {
    const settings = boardSettings(options ?? {});
    const locks = { token: lockServiceToken(settings.module), optional: true };
    return {
      module: LockBoardModule,
      imports: settings.imports,
      controllers: [boardController(settings)],
      providers: [
        {
          provide: LockBoard,
          inject: [locks],
          useFactory: (service: LockService | undefined) =>
            new LockBoard(service ?? missing(settings), settings),
        },
      ],
    };
  }
}

function missing({ module }: BoardSettings): never {
  throw new LockOptionsError(
    `LockBoardModule finds no LockService: import ${forRoot(module)}, and with "isGlobal: false" give what that returned in "imports" here too.`,
  );
}
