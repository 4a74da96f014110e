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
