/** So many cycles of acquire and release, so many at once. */
export interface Work {
  readonly name: string;
  readonly width: number;
  readonly cycles: number;
  /** A new one for each cycle, the same one for each caller again and again, or one for all. */
  readonly keys: 'new' | 'same' | 'one';
}

/** What a cycle costs: processor time in µs, of all threads; bytes and reads that reached the server; time by the wall in µs, while others run. */
export interface Cost {
  readonly client: number;
  readonly server: number;
  readonly bytes: number;
  readonly reads: number;
  readonly wall: number;
}
