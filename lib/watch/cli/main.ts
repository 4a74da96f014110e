import { run } from './run.js';
import { Terminal } from './terminal.js';

/** Nothing that a command waits for may end the process early: most of the library's timers keep none alive. */
const alive = setInterval(() => {}, 2 ** 30);
process.exitCode = await run(process.argv.slice(2), process.env, new Terminal(process));
clearInterval(alive);
