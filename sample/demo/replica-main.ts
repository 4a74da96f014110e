import { NestFactory } from '@nestjs/core';
import { DemoModule } from './demo.module.js';

// Ctrl-C reaches every process of a terminal: the replicas end when the demo does, not before it.
process.on('SIGINT', () => {});
process.once('disconnect', () => process.exit());

const redis = process.argv[2]!;
// Warnings are off: that UnlockedAccountsService overrides locked methods is intended here.
const app = await NestFactory.create(DemoModule.connectedTo(redis), { logger: ['error', 'fatal'] });
await app.listen(0, '127.0.0.1');
process.send!(await app.getUrl());
