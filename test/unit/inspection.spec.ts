import { expect, it } from '@jest/globals';
import { moduleSettings, NATIVE } from '../../lib/engine/options/index.js';
import { formatOf } from '../../lib/engine/inspection/inspection.js';

const nodes = ['redis://a', 'redis://b', 'redis://c'];

it.each([
  ['nodes', { nodes }],
  ['replicas', { redis: 'redis://a', replicas: { acks: 1 } }],
])('a lock of another is not looked for in a module with option "%s"', (option, module) => {
  const settings = moduleSettings(module);
  expect(() => formatOf({ dialect: 'redlock' }, settings)).toThrow(
    `Dialect "redlock" and option "${option}" exclude each other`,
  );
  expect(formatOf({}, settings)).toBe(NATIVE);
});
