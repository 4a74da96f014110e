/** How many leases one extend carries: a longer script would hold up everybody else. This one takes 1 to 3 ms. */
export const LARGEST_BATCH = 256;

/** The indices of `items` in batches of `largest` at most, in which all items have one `group`. */
export function batchesOf<Item>(
  items: readonly Item[],
  group: (item: Item) => number,
  largest: number,
): number[][] {
  const batches: number[][] = [];
  const open = new Map<number, number[]>();
  for (const [at, item] of items.entries()) {
    const of = group(item);
    let batch = open.get(of);
    if (!batch || batch.length === largest) {
      batch = [];
      open.set(of, batch);
      batches.push(batch);
    }
    batch.push(at);
  }
  return batches;
}

/** The same where each item is of one `taker`, which says how it takes those that are its own. */
export function batchesBy<Item, Taker>(
  items: readonly Item[],
  takerOf: (item: Item) => Taker,
  batches: (taker: Taker, items: readonly Item[]) => number[][],
): number[][] {
  const first = items[0] && takerOf(items[0]);
  if (first && items.every((item) => takerOf(item) === first)) return batches(first, items);
  const takers = new Map<Taker, number[]>();
  for (const [at, item] of items.entries()) {
    const taker = takerOf(item);
    const places = takers.get(taker);
    if (places) places.push(at);
    else takers.set(taker, [at]);
  }
  return [...takers].flatMap(([taker, places]) => {
    const own = places.map((at) => items[at]!);
    return batches(taker, own).map((batch) => batch.map((nth) => places[nth]!));
  });
}
