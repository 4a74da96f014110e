import type { RedisOptions } from 'ioredis';
import { createConnection, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { LockStoreError } from '../errors/index.js';
import type { Clock } from '../options/index.js';
import { deadline } from './deadline.js';
import { unfit } from './store-failure.js';

/** How long to wait for an answer, in ms. */
const PATIENCE = 2_000;
/** How many characters of an answer are shown. */
const SHOWN = 40;
const PING = 'PING\r\n\r\n';

type Answer = Buffer | 'closed' | 'silent';

/** The first byte of a TLS server's answer to plain text. */
const TLS_ALERT = 0x15;
const SPEAKS_TLS = 'it speaks TLS: use rediss://, or option "tls"';

/**
 * Finds what listens at an address, by a PING on a connection of its own, without TLS, user or password. So no answer that
 * is shown can have a secret in it, even if a server repeats what it is sent. Undefined if that tells no more than ioredis
 * does. Never rejects.
 */
export async function probe(
  options: RedisOptions,
  clock: Clock,
): Promise<LockStoreError | undefined> {
  if (options.sentinels) return undefined;
  const { path, host = 'localhost', port = 6379, tls } = options;
  const place = path ? { path } : { host, port };
  try {
    const answer = await answerOf(createConnection(place), 'connect', clock);
    if (answer === 'closed' && !tls) {
      const socket = connectTls({ ...place, rejectUnauthorized: false });
      if (await answerOf(socket, 'secureConnect', clock)) return unfit(SPEAKS_TLS);
    }
    return answer && meaning(answer, Boolean(tls));
  } catch {
    return undefined; // Node throws at once for what is no port
  }
}

/** The server's answer to a PING; undefined if the socket did not connect. */
function answerOf(
  socket: Socket,
  connected: 'connect' | 'secureConnect',
  clock: Clock,
): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    let answer: Answer | undefined;
    const end = (): void => {
      cancel();
      socket.destroy();
      resolve(answer);
    };
    const cancel = deadline(clock, PATIENCE, end);
    socket.once(connected, () => {
      answer = 'silent';
      socket.write(PING);
    });
    socket.once('data', (data) => {
      answer = data;
      end();
    });
    socket.on('error', () => {});
    socket.once('close', () => {
      answer &&= 'closed';
      end();
    });
  });
}

function meaning(answer: Answer, isTls: boolean): LockStoreError | undefined {
  if (answer === 'closed') {
    return isTls ? undefined : unfit('it closes each connection without a word', true);
  }
  if (answer === 'silent') return unfit('it accepts connections and says nothing', true);
  const text = answer.toString('latin1');
  if (text.startsWith('-ERR max number of clients')) {
    return unfit('it has as many clients as it may have (maxclients)', true);
  }
  if (text.startsWith('-DENIED')) {
    return unfit('it is in protected mode: bind it to an address, or set a password');
  }
  if (/^(\+PONG|-\w)/.test(text)) {
    return isTls ? unfit('it speaks without TLS: use redis://, or leave out "tls"') : undefined;
  }
  if (answer[0] === TLS_ALERT && answer[1] === 3) return isTls ? undefined : unfit(SPEAKS_TLS);
  if (text.startsWith('PING')) return unfit('it repeats what it is sent: no Redis');
  const shown = text
    .replace(/[\r\n][^]*/, '')
    .replace(/[^ -~]/g, '?')
    .slice(0, SHOWN);
  return unfit(`what answers there is no Redis: "${shown}"`);
}
