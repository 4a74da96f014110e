/**
 * Matches whole keys against a pattern in which `*` stands for any text, in time proportional to the key. An expression
 * such as `/^.*a.*b.*$/` would try each of the ways in which a long key may be parted.
 */
export function keyMatcher(pattern: string): (key: string) => boolean {
  return partsMatcher(pattern.split('*'));
}

/** As {@link keyMatcher}, for the parts of a pattern between which any text may stand. */
export function partsMatcher(parts: readonly string[]): (key: string) => boolean {
  const [first, ...others] = parts as readonly [string, ...string[]];
  const last = others.pop();
  if (last === undefined) return (key) => key === first;
  return (key) => {
    const end = key.length - last.length;
    if (!key.startsWith(first) || !key.endsWith(last)) return false;
    let at = first.length;
    for (const part of others) {
      const found = key.indexOf(part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return at <= end;
  };
}
