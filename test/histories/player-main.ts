// What a process of a history runs: an application that locks, until its parent has heard enough.
import { register } from 'node:module';

if (process.env['IOREDIS'] === '5') {
  const hook = `export const resolve = (name, context, next) => next(name === 'ioredis' ? 'ioredis-5' : name, context);`;
  register(`data:text/javascript,${encodeURIComponent(hook)}`);
}
const { plant } = await import('./plants.js');
const { Player } = await import('./player.js');
type Play = import('./player.js').Play;

const play = JSON.parse(process.argv[2]!) as Play;
if (play.plant) plant(play.plant);
const player = await Player.start(play);
process.on('unhandledRejection', (reason) =>
  player.trouble(`unhandled: ${(reason as Error | undefined)?.stack ?? String(reason)}`),
);
process.on('uncaughtException', ({ stack }) => player.trouble(`uncaught: ${stack}`));

const progress = setInterval(() => process.send!({ progress: player.progress() }), 50);
const commands: Record<string, (ms: number) => unknown> = {
  stall: (ms) => player.stall(ms),
  restart: () => player.restart(),
  async end() {
    const open = await player.end();
    clearInterval(progress);
    process.send!({ progress: player.progress() });
    process.send!({ ended: open }, () => process.exit());
  },
};
process.on('message', ({ command, ms }: { command: string; ms: number }) => {
  void Promise.resolve(commands[command]!(ms)).then(() => process.send!({ done: command }));
});
process.send!({ ready: true });
