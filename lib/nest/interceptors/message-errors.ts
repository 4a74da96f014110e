import { Catch, type ExceptionFilter } from '@nestjs/common';
import { EXCEPTION_FILTERS_METADATA } from '@nestjs/common/constants.js';
import { type Observable, throwError } from 'rxjs';
import { LockError } from '../../engine/errors/index.js';
import { underlyingError } from '../../engine/errors/lock.error.js';
import type { LockService } from '../services/lock.service.js';
import { putFirst } from '../services/metadata.js';
import {
  answerTo,
  LockGraphqlError,
  LockHttpException,
  logFailure,
  messageBody,
} from './error-response.js';
import { answersErrors } from './lock-error.interceptor.js';
import { isEventHandler } from './transports.js';

// Metadata keys of packages that this one does not depend on.
const PATTERN = 'microservices:pattern';
const GRAPHQL = ['graphql:resolver_type', 'graphql:resolve_property', 'graphql:resolve_reference'];

/**
 * The exception that leaves a message handler. Where the application's configuration is inherited, its interceptor maps the
 * exception for its filters.
 */
class LockMessageException extends LockHttpException {}

/** Answers a message where the application's configuration is not inherited; stands on each class with decorated methods. */
@Catch(LockMessageException)
class MessageErrorFilter implements ExceptionFilter<LockError> {
  catch(error: LockError): Observable<never> {
    return throwError(() => messageBody(answerTo(underlyingError(error))));
  }
}

const messageErrorFilter = new MessageErrorFilter();

/** Adds the filter to a class, behind its other filters. */
export function catchMessageErrors(type: object): void {
  putFirst(EXCEPTION_FILTERS_METADATA, messageErrorFilter, type);
}

/**
 * Maps an error of this library that leaves a message handler (hybrid applications) or the resolver of a GraphQL field: no
 * interceptor of the application may be around them.
 */
export function errorOfHandler(service: LockService, handler: object, thrown: unknown): unknown {
  if (!(thrown instanceof LockError) || !answersErrors(service)) return thrown;
  const error = underlyingError(thrown);
  if (Reflect.hasMetadata(PATTERN, handler)) {
    logFailure(error, isEventHandler(handler));
    return new LockMessageException(error);
  }
  if (isResolver(handler)) {
    logFailure(error);
    return new LockGraphqlError(error);
  }
  return thrown;
}

/** True for a method that GraphQL calls. */
export function isResolver(handler: object): boolean {
  return GRAPHQL.some((key) => Reflect.hasMetadata(key, handler));
}
