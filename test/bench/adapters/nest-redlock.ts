import { createRequire } from 'node:module';
import type Redlock from 'redlock-5';
import type { ExecutionError as RedlockError } from 'redlock-5';
import { redlock5Family } from './redlock-5-family.js';

const NAME = '@anchan828/nest-redlock';

// Its ES modules cannot be imported by Node: they name each other without extension.
const require = createRequire(import.meta.url);
const { RedlockService } = require(NAME) as {
  RedlockService: new (options: { clients: object[]; settings: object }) => Redlock;
};
const { ExecutionError } = createRequire(require.resolve(NAME))('redlock') as {
  ExecutionError: typeof RedlockError;
};

/** The service as its module provides it. */
export const nestRedlock = redlock5Family(
  NAME,
  ExecutionError,
  (clients, settings) => new RedlockService({ clients, settings }),
);
