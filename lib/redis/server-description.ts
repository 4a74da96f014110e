/** What a start-up log says of a server, from its INFO; little where the user has no right to it. */
export function description(info: string, address: string): { found: string; warnings: string[] } {
  const version = /^redis_version:(.*?)\r?$/m.exec(info)?.[1];
  const policy = /^maxmemory_policy:(.*?)\r?$/m.exec(info)?.[1];
  const evicts = policy !== undefined && policy !== 'noeviction';
  return {
    found: `Redis ${version ?? '(version unknown)'} at ${address}`,
    warnings: evicts
      ? [
          `maxmemory-policy is ${policy}: Redis may evict locks that are held. Set it to noeviction.`,
        ]
      : [],
  };
}
