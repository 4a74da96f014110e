import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';
import type { Subscription } from 'rxjs';
import { type Clock, systemClock } from '../../engine/options/index.js';
import { logger } from './logger.js';

/** The delay of the check after `listen`, in ms: main.ts may enable shutdown hooks after `listen`. */
const PATIENCE = 5_000;
/** Signals and messages by which platforms end a Node process. */
const ENDS = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGUSR2', 'message'] as const;

/** The part of `process` that the check reads. */
type Listeners = Pick<NodeJS.Process, 'listenerCount' | 'env'>;

/** Applications that have a check: one for each is enough. */
const checked = new WeakSet<object>();

/**
 * Warns of an application that would leave its locks behind: nothing in its process listens to a signal, some time after
 * `listen`. The check is silent in tests, in scripts, and if any code listens to any signal.
 */
export class ShutdownHooksCheck implements OnApplicationBootstrap, OnModuleDestroy {
  #listening: Subscription | undefined;
  #cancel = (): void => {};
  readonly #host: HttpAdapterHost;
  readonly #process: Listeners;

  constructor(
    host: HttpAdapterHost,
    /** How long a lock that is left behind stays taken, in ms; 0: no lock outlives the process. */
    private readonly ttl: number,
    private readonly clock: Clock = systemClock,
    process: Listeners = globalThis.process,
  ) {
    this.#host = host;
    this.#process = process;
  }

  /** Called by Nest. */
  onApplicationBootstrap(): void {
    if (this.ttl === 0 || checked.has(this.#host)) return;
    checked.add(this.#host);
    this.#listening = this.#host.listen$.subscribe(() => {
      this.#cancel = this.clock.after(PATIENCE, () => this.#check());
    });
  }

  /** Called by Nest. */
  onModuleDestroy(): void {
    this.#listening?.unsubscribe();
    this.#cancel();
  }

  #check(): void {
    const { NODE_ENV } = this.#process.env;
    if (NODE_ENV === 'test' || ENDS.some((name) => this.#process.listenerCount(name) > 0)) return;
    logger.warn(
      `Nothing in this process listens to SIGTERM: its locks outlive it for up to ${this.ttl} ms (option "ttl"), and others wait for them. Call app.enableShutdownHooks() in main.ts.`,
    );
  }
}
