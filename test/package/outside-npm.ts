/** What `npm test` and Jest add to the environment, and another project's npm and Jest must not see. */
const OURS =
  /^(npm_(package|lifecycle|config_local_prefix|command)|INIT_CWD|NODE_ENV|JEST_|NEST$|IOREDIS$)/;

/** The environment as it is outside of this project, with `more` in it. */
export function outsideNpm(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const outside = Object.entries(process.env).filter(([name]) => !OURS.test(name));
  return { ...Object.fromEntries(outside), ...more };
}
