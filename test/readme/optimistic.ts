// #region optimistic
import { lockKey, type LockService } from 'nest-redis-lock';

// #endregion
type Point = readonly [x: number, y: number];

// #region optimistic
export async function position(
  locks: LockService,
  id: string,
  read: () => Promise<Point>,
): Promise<Point> {
  const key = lockKey`position:${id}`;
  const stamp = await locks.optimistic(key);
  const point = await read(); // no lock: writers do not wait for this
  if (await stamp.validate()) return point; // and no writer came between
  return locks.withLock(key, { mode: 'shared' }, read);
}
// #endregion
