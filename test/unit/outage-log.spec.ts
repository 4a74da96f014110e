import { expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Publisher } from '../../lib/engine/events/index.js';
import { systemClock } from '../../lib/engine/options/index.js';
import { outageLog } from '../../lib/nest/services/log.js';

it.each([
  [undefined, {}],
  ['sessions', { module: 'sessions' }],
])('an outage of module %s is said with its name in the fields', (module, fields) => {
  const said: unknown[] = [];
  const note = (_text: unknown, ...about: unknown[]): void => void said.push(...about);
  const spies = (['warn', 'log'] as const).map((level) =>
    jest.spyOn(Logger.prototype, level).mockImplementation(note),
  );
  const log = outageLog(new Publisher({ topology: 'redis', module }, systemClock));
  const server = 'localhost:6379/0';
  log.lost(server, 'ECONNREFUSED');
  log.back(server, 1_234.5);
  log.replaced(server);
  expect(said).toEqual([
    { event: 'disconnected', server, cause: 'ECONNREFUSED', ...fields },
    { event: 'connected', server, outage: 1_235, ...fields },
    { event: 'replaced', server, ...fields },
  ]);
  for (const spy of spies) spy.mockRestore();
});
