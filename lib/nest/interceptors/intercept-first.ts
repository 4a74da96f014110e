import type { NestInterceptor, Type } from '@nestjs/common';
import { INTERCEPTORS_METADATA } from '@nestjs/common/constants.js';
import { putFirst } from '../services/metadata.js';

/**
 * Puts `interceptor` around the others of a handler or controller, and so around a transaction wherever that is written:
 * `@UseInterceptors` appends, and decorators apply from the last to the first. An interceptor that the author added by hand
 * stays at its chosen position.
 */
export function interceptFirst(bearer: object, interceptor: Type<NestInterceptor>): void {
  putFirst(INTERCEPTORS_METADATA, interceptor, bearer);
}
