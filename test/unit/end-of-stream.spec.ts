import { expect, it, jest } from '@jest/globals';
import { discard } from '../../lib/nest/services/end-of-stream.js';

it.each([
  ['returns nothing', () => undefined],
  [
    'throws',
    () => {
      throw new TypeError('the stream is locked');
    },
  ],
])('a stream that nobody will read is cancelled, and may be one whose cancel() %s', (_, does) => {
  const cancel = jest.fn(does);
  expect(() => discard({ getReader() {}, cancel })).not.toThrow();
  expect(cancel).toHaveBeenCalledTimes(1);
});
