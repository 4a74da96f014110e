import type { NestInterceptor, Type } from '@nestjs/common';
import { INTERCEPTORS_METADATA } from '@nestjs/common/constants.js';

/**
 * Puts `interceptor` around the others of a handler or controller, and so around a transaction wherever that is written:
 * `@UseInterceptors` appends, and decorators apply from the last to the first. An interceptor that the author added by hand
 * stays at its chosen position.
 */
export function interceptFirst(bearer: object, interceptor: Type<NestInterceptor>): void {
  const interceptors = (Reflect.getMetadata(INTERCEPTORS_METADATA, bearer) ?? []) as unknown[];
  if (interceptors.includes(interceptor)) return;
  Reflect.defineMetadata(INTERCEPTORS_METADATA, [interceptor, ...interceptors], bearer);
}
