import { Inject } from '@nestjs/common';
import { lockServiceToken } from '../services/lock.service.js';

/** Injects the `LockService` of the module with this `name`; without one, the unnamed module's. */
export function InjectLockService(module?: string): ParameterDecorator & PropertyDecorator {
  return Inject(lockServiceToken(module));
}
