/** Works through `items` from the first to the last, one in each of `lanes` at a time. */
export async function inLanes(lanes, items, work) {
  const left = items.entries();
  const walk = async (lane) => {
    for (const [at, item] of left) await work(lane, item, at);
  };
  await Promise.all(lanes.map(walk));
}
