import { run } from './run.js';
import { Terminal } from './terminal.js';

/** Keeps the process alive until the command has ended: most of the library's timers do not. */
const alive = setInterval(() => {}, 2 ** 30);
process.exitCode = await run(process.argv.slice(2), process.env, new Terminal(process));
clearInterval(alive);
