import type { LuaValue } from './values.js';

/** The variables of one call of a function, and the frame of the call in which the function was made. */
export interface Frame {
  readonly slots: LuaValue[];
  readonly outer: Frame | undefined;
}

/** The location of a variable: in a frame `depth` functions further out, at `slot`. */
export interface Place {
  readonly depth: number;
  readonly slot: number;
}

/**
 * The names visible at a point of a function, while the function is read. A local has one slot for a whole call, so a function
 * that is made in a loop sees the value of the last round.
 */
export class Scope {
  readonly #blocks: Map<string, number>[] = [new Map()];
  #slots = 0;

  constructor(private readonly outer?: Scope) {}

  open(): void {
    this.#blocks.push(new Map());
  }

  close(): void {
    this.#blocks.pop();
  }

  declare(name: string): number {
    const slot = this.#slots;
    this.#slots += 1;
    this.#blocks.at(-1)!.set(name, slot);
    return slot;
  }

  find(name: string): Place | undefined {
    for (const block of this.#blocks.toReversed()) {
      const slot = block.get(name);
      if (slot !== undefined) return { depth: 0, slot };
    }
    const outer = this.outer?.find(name);
    return outer && { depth: outer.depth + 1, slot: outer.slot };
  }
}
