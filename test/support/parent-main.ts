// What a child process of the tests runs: it has a server and a stopped worker, and is killed.
import { RedisProcess } from '../../tools/redis-server.js';
import { Worker } from './worker.js';

const server = await RedisProcess.start();
const worker = await Worker.start({ redis: server.url });
worker.signal('SIGSTOP');
process.send!([server.pid, worker.pid]);
