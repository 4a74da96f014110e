// Loaded before anything else in a process that measures on ioredis 5: whoever imports ioredis gets that one.
import { register } from 'node:module';

const hook = `export const resolve = (name, context, next) => next(name === 'ioredis' ? 'ioredis-5' : name, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
