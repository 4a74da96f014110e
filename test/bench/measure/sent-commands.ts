import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';

let sent = 0;

/** How many commands the clients of this process have sent, those inside scripts not counted. */
export function sentCommands(): number {
  return sent;
}

type Send = (this: Redis, ...args: Parameters<Redis['sendCommand']>) => unknown;

for (const { prototype } of [Redis, Redis5 as unknown as typeof Redis]) {
  const send = Reflect.get(prototype, 'sendCommand') as Send;
  prototype.sendCommand = function (this: Redis, ...args) {
    sent += 1;
    return send.apply(this, args);
  };
}
