import { CURRENT_LEASE_METADATA } from '../redis-lock.constants.js';
import { addParameterMetadata } from './parameter-metadata.js';

/**
 * A parameter that `@Locked` fills with the lease, on routes too. Undefined only where the call
 * proceeds without a lock (`onUnavailable: 'proceed'`).
 */
export function CurrentLease(): ParameterDecorator {
  return (target, method, index) =>
    addParameterMetadata(CURRENT_LEASE_METADATA, target, method, index);
}
