// What a child process of the tests runs: a Nest application in one role, on the majors under test.
import { register } from 'node:module';
import { pathToFileURL } from 'node:url';

const nest11 = pathToFileURL('test/nest-11/package.json').href;
const hook = `
export function resolve(name, context, next) {
  if (${process.env['IOREDIS'] === '5'} && name === 'ioredis') return next('ioredis-5', context);
  if (${process.env['NEST'] === '11'} && name.startsWith('@nestjs/')) return next(name, { ...context, parentURL: '${nest11}' });
  return next(name, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

const [, , role, options] = process.argv;
const { start } = (await import(`./${role}.js`)) as {
  start: (options: unknown) => Promise<void>;
};
await start(JSON.parse(options!));
process.send!({ ready: true });
