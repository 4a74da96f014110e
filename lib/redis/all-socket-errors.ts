import type { Redis } from 'ioredis';
import type { Duplex } from 'node:stream';

/** Not documented; what ioredis makes a client's sockets with. */
interface WithConnector {
  readonly connector?: { connect(told: unknown): Promise<Duplex> };
}

/**
 * ioredis hears the first error of a socket alone. One whose TLS handshake is given up has a second one, and that would
 * end the process.
 */
export function hearAllErrors(client: Redis): Redis {
  const { connector } = client as unknown as WithConnector;
  if (!connector) return client;
  const connect = connector.connect.bind(connector);
  connector.connect = async (told) => (await connect(told)).on('error', () => {});
  return client;
}
