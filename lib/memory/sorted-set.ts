/** A member and its score. */
export interface Member {
  readonly name: string;
  readonly score: number;
}

/** A bound of a range of scores, as Redis reads it: `5`, `(5`, `-inf`, `+inf`. */
export interface Bound {
  readonly score: number;
  readonly isOpen: boolean;
}

/** Members ordered by score, and by their bytes if scores are equal. */
export class SortedSet {
  readonly #scores = new Map<string, number>();
  readonly #sorted: Member[] = [];

  get size(): number {
    return this.#sorted.length;
  }

  score(name: string): number | undefined {
    return this.#scores.get(name);
  }

  rank(name: string): number | undefined {
    const score = this.#scores.get(name);
    return score === undefined ? undefined : this.#rankFor({ name, score });
  }

  /** Adds or moves a member. Returns true for a new one. */
  add(name: string, score: number): boolean {
    const isNew = !this.remove(name);
    const member = { name, score };
    this.#scores.set(name, score);
    this.#sorted.splice(this.#rankFor(member), 0, member);
    return isNew;
  }

  remove(name: string): boolean {
    const rank = this.rank(name);
    if (rank === undefined) return false;
    this.#scores.delete(name);
    this.#sorted.splice(rank, 1);
    return true;
  }

  /** The members between two ranks, both inclusive; a negative rank counts from the end. */
  ranks(first: number, last: number): Member[] {
    return this.#sorted.slice(first, last === -1 ? undefined : last + 1);
  }

  /** The members with scores in a range. */
  between(low: Bound, high: Bound): Member[] {
    const first = this.#first(({ score }) => (low.isOpen ? score > low.score : score >= low.score));
    const end = this.#first(({ score }) =>
      high.isOpen ? score >= high.score : score > high.score,
    );
    return this.#sorted.slice(first, end);
  }

  #rankFor({ name, score }: Member): number {
    return this.#first(
      (other) => other.score > score || (other.score === score && !isBefore(other.name, name)),
    );
  }

  /** The lowest rank from which on `isSo` holds for all members. */
  #first(isSo: (member: Member) => boolean): number {
    let [low, high] = [0, this.#sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isSo(this.#sorted[middle]!)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

function isBefore(one: string, other: string): boolean {
  return Buffer.compare(Buffer.from(one), Buffer.from(other)) < 0;
}
