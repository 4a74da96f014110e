/** Returns a list from the metadata of a class or a method, inherited ones too; an empty one where there is none. */
export function listed<Item>(
  key: string | symbol,
  target: object,
  method?: string | symbol,
): Item[] {
  return (Reflect.getMetadata(key, target, method!) ?? []) as Item[];
}

/** Adds an item to the end of a target's own list. */
export function addLast<Item>(
  key: symbol,
  item: Item,
  target: object,
  method?: string | symbol,
): void {
  const own = (Reflect.getOwnMetadata(key, target, method!) ?? []) as Item[];
  Reflect.defineMetadata(key, [...own, item], target, method!);
}

/** Puts an item before the others of a list, inherited ones too, unless it is among them. */
export function putFirst(key: string | symbol, item: unknown, target: object): void {
  const others = listed(key, target);
  if (!others.includes(item)) Reflect.defineMetadata(key, [item, ...others], target);
}
