import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Runs a function outside the request it was called in: what lives longer than a request (a
 * connection, a timer for many) must not carry that request's context along, nor run others in it.
 */
export const detached = AsyncLocalStorage.snapshot();
