import type { ArgumentsHost } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';

const TRANSPORTS = ['http', 'graphql', 'rpc', 'ws'] as const;

/** By what a client waits for an answer. */
export type Transport = (typeof TRANSPORTS)[number];

/**
 * Undefined where no client waits that this library can answer. Nest says `http` also of what other libraries call
 * through it without a request: listeners of events, commands of a bot.
 */
export function transportOf(
  host: ArgumentsHost,
  adapter: AbstractHttpAdapter | undefined,
): Transport | undefined {
  const type = TRANSPORTS.find((each) => each === host.getType<string>());
  if (type !== 'http') return type;
  const response = host.switchToHttp().getResponse<unknown>();
  if (!adapter || typeof response !== 'object' || response === null) return undefined;
  return 'setHeader' in response || 'header' in response ? type : undefined;
}
