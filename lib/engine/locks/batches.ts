/** How many leases one extend carries: a longer script would hold up everybody else. This one takes 1 to 3 ms. */
export const LARGEST_BATCH = 256;

/** The indices of `items` in batches of `largest` at most, in which all items have one `group`. */
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

/** The same where only items of one `kind` are put together, by `batches`. */
export function batchesBy<Item>(
  items: readonly Item[],
  kindOf: (item: Item) => unknown,
  batches: (items: readonly Item[]) => number[][],
): number[][] {
  const kinds = batchesOf(items, kindOf, Infinity);
  if (kinds.length === 1) return batches(items);
  return kinds.flatMap((places) => {
    const own = places.map((at) => items[at]!);
    return batches(own).map((batch) => batch.map((nth) => places[nth]!));
  });
}
