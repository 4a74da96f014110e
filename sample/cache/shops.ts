import type { PriceList, Prices } from './price-list.js';

/** How often shops read the list while it was refreshed, and how often they saw half of a refresh. */
export interface Readings {
  readonly read: number;
  readonly torn: number;
}

/** Shops read again and again, each in its own way, until the list has been refreshed `times` times. */
export async function readDuringRefreshes(
  lists: readonly PriceList[],
  times: number,
  read: (list: PriceList) => Promise<Prices | undefined>,
): Promise<Readings> {
  let [seen, torn] = [0, 0];
  let open = true;
  const shop = async (list: PriceList): Promise<void> => {
    while (open) {
      const prices = await read(list);
      if (!prices) continue;
      seen += 1;
      if (prices.price !== `price of ${prices.version}`) torn += 1;
    }
  };
  const shops = lists.flatMap((list) => Array.from({ length: 4 }, () => shop(list)));
  for (let version = 1; version <= times; version += 1) {
    await lists[version % lists.length]!.refresh(version);
  }
  open = false;
  await Promise.all(shops);
  return { read: seen, torn };
}
