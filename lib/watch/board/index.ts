/**
 * A page that shows the locks that are held now.
 *
 * @module nest-redis-lock/board
 */

export { LockBoardModule } from './lock-board.module.js';
export type { LockBoardOptions } from './board-options.js';
