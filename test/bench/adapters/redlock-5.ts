import Redlock, { ExecutionError } from 'redlock-5';
import { redlock5Family } from './redlock-5-family.js';

export const redlock5 = redlock5Family(
  'redlock 5',
  ExecutionError,
  (clients, settings) => new Redlock(clients, settings),
);
