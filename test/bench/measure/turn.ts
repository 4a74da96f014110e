/** One critical section of one caller; times in ms of the clock that all processes share. */
export interface Turn {
  readonly caller: number;
  readonly key: string;
  /** It called acquire. */
  readonly asked: number;
  /** It was told that it holds the lock. */
  readonly acquired: number;
  /** It called release. */
  readonly releasing: number;
  /** Release had answered. */
  readonly released: number;
}
