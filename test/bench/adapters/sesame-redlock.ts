import { ExecutionError, Redlock } from '@sesamecare-oss/redlock';
import { redlock5Family } from './redlock-5-family.js';

export const sesameRedlock = redlock5Family(
  '@sesamecare-oss/redlock',
  ExecutionError,
  (clients, settings) => new Redlock(clients, settings),
);
