export type { Around } from './around.js';
export * from './hold.js';
export * from './lock-event.js';
export * from './lock-channels.js';
export * from './lock-events.js';
export * from './key-labels.js';
export * from './publisher.js';
export * from './subject.js';
export * from './tell-each.js';
