// Loaded before anything else in a side: a build that lies elsewhere uses the Nest and the ioredis of this project.
import { register } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const here = `${pathToFileURL(resolve('.')).href}/`;
const hook = `
export function resolve(name, context, next) {
  const inside = /^([./]|\\w+:)/.test(name) || !context.parentURL || context.parentURL.startsWith('${here}');
  return next(name, inside ? context : { ...context, parentURL: '${here}package.json' });
}`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
