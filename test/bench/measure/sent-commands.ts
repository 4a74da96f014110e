import { Redis } from 'ioredis';

let sent = 0;

/** How many commands the clients of this process have sent, those inside scripts not counted. */
export function sentCommands(): number {
  return sent;
}

type Send = (this: Redis, ...args: Parameters<Redis['sendCommand']>) => unknown;

const send = Reflect.get(Redis.prototype, 'sendCommand') as Send;
Redis.prototype.sendCommand = function (this: Redis, ...args) {
  sent += 1;
  return send.apply(this, args);
};
