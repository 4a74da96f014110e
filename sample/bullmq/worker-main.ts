import { NestFactory } from '@nestjs/core';
import { WorkerModule } from './bank.module.js';

const app = await NestFactory.createApplicationContext(WorkerModule.connectedTo(process.argv[2]!), {
  logger: false,
});
app.enableShutdownHooks(); // at a SIGTERM, the jobs and their locks are given to the next worker
process.once('disconnect', () => process.exit());
