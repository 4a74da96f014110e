// A thread beside acquire-path-main.ts: stops it at its first write to a socket after each `globalThis.watched =
// true`, and says the frames of lib that led there, across promises, ticks and timers.
import { Session } from 'node:inspector/promises';
import { parentPort } from 'node:worker_threads';

parentPort!.on('message', () => {}); // an inspector alone does not keep a thread
const session = new Session();
const urls = new Map<string, string>();
session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url));
session.connectToMainThread();
await session.post('Debugger.enable');
await session.post('Debugger.setAsyncCallStackDepth', { maxDepth: 64 });
const { result } = await session.post('Runtime.evaluate', {
  expression: 'process.getBuiltinModule("node:net").Socket.prototype._writeGeneric',
});
await session.post('Debugger.setBreakpointOnFunctionCall', {
  objectId: result.objectId,
  condition: 'globalThis.watched && (globalThis.watched = false, true)',
} as never);
session.on('Debugger.paused', ({ params }) => {
  const stack: string[] = [];
  const add = (name: string, url: string): void => {
    const file = /\/(lib\/.*)/.exec(url)?.[1];
    if (file && stack.at(-1) !== `${name} ${file}`) stack.push(`${name} ${file}`);
  };
  for (const { functionName, location } of params.callFrames) {
    add(functionName, urls.get(location.scriptId) ?? '');
  }
  for (let at = params.asyncStackTrace; at; at = at.parent) {
    for (const { functionName, url } of at.callFrames) add(functionName, url);
  }
  void session.post('Debugger.resume');
  parentPort!.postMessage(stack.reverse());
});
parentPort!.postMessage('ready');
