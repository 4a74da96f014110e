/** Whether a key matches a pattern as a whole, in which `*` stands for any text. */
export function keyMatcher(pattern: string): (key: string) => boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const whole = new RegExp(`^${parts.join('.*')}$`, 's');
  return (key) => whole.test(key);
}
