import {
  Controller,
  Get,
  Inject,
  Post,
  Req,
  Res,
  SetMetadata,
  type Type,
  UseGuards,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import type { PlatformRequest, PlatformResponse } from './answers.js';
import type { BoardSettings } from './board-options.js';
import { LockBoard } from './lock-board.js';

/** The metadata that hides a controller from the documents of `@nestjs/swagger`. */
const HIDDEN = 'swagger/apiExcludeController';

class WatchingController {
  constructor(@Inject(LockBoard) protected readonly board: LockBoard) {}

  @Get()
  page(@Res() response: PlatformResponse): void {
    this.board.page(response);
  }

  @Get('events')
  events(@Req() request: PlatformRequest, @Res() response: PlatformResponse): void {
    this.board.watch(request, response);
  }
}

class ReleasingController extends WatchingController {
  @Post('release')
  release(@Req() request: PlatformRequest, @Res() response: PlatformResponse): void {
    this.board.release(request, response);
  }
}

/** Makes the controller of one page, with the module's path and guards. The controller has no version, since browsers send none. */
export function boardController({ path, guards, release }: BoardSettings): Type {
  class LockBoardController extends (release ? ReleasingController : WatchingController) {}
  Controller({ path, version: VERSION_NEUTRAL })(LockBoardController);
  UseGuards(...guards)(LockBoardController);
  SetMetadata(HIDDEN, [true])(LockBoardController);
  return LockBoardController;
}
