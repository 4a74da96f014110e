import type { NestInterceptor } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import type { LockService } from '../services/lock.service.js';
import { LockErrorFilter } from './lock-error.filter.js';

const answered = new WeakSet<LockService>();

/**
 * Has the application answer errors of this library on every transport. Called before anything global is registered:
 * so the filter is the last that is asked, and the interceptor stands around all others.
 */
export function answerErrors(
  config: ApplicationConfig,
  filter: LockErrorFilter,
  interceptor: NestInterceptor,
  service: LockService,
): void {
  answered.add(service);
  if (config.getGlobalFilters().some((other) => other instanceof LockErrorFilter)) return;
  config.useGlobalFilters(filter);
  config.useGlobalInterceptors(interceptor);
}

/** Whether the application of this service answers its errors. */
export function answersErrors(service: LockService): boolean {
  return answered.has(service);
}
