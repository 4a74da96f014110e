import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';

/** RouteParamtypes.RESPONSE of Nest. */
const RESPONSE = '1';

/** The position of `@Res()` in a route that answers by itself; undefined for any other method, `passthrough` included. */
export function responseParameter(prototype: object, method: string | symbol): number | undefined {
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, prototype.constructor, method) ??
    {}) as Record<string, { index: number; data?: { passthrough?: boolean } }>;
  const [, response] =
    Object.entries(parameters).find(([name]) => name.split(':')[0] === RESPONSE) ?? [];
  return response?.data?.passthrough ? undefined : response?.index;
}
