/** The most leases in one extend, which takes 1 to 3 ms: a longer script would delay all other clients. */
export const LARGEST_BATCH = 256;

/** Groups the indices of `items` into batches of `largest` at most; the items of a batch have one `group`. */
export function batchesOf<Item>(
  items: readonly Item[],
  group: (item: Item) => unknown,
  largest: number,
): number[][] {
  const batches: number[][] = [];
  const open = new Map<unknown, number[]>();
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

/** Groups items by kind first, then each kind by `batches`. */
export function batchesBy<Item>(
  items: readonly Item[],
  kindOf: (item: Item) => unknown,
  batches: (items: readonly Item[]) => number[][],
): number[][] {
  const kinds = batchesOf(items, kindOf, Infinity);
  if (kinds.length === 1) return batches(items);
  return kinds.flatMap((indices) => {
    const own = indices.map((at) => items[at]!);
    return batches(own).map((batch) => batch.map((nth) => indices[nth]!));
  });
}
