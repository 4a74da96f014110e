import { expect, it } from '@jest/globals';
import {
  KeyList,
  type Operand,
  CachedScript,
  type ScriptRun,
} from '../../lib/engine/redis/index.js';

const script = new CachedScript(`local list = KEYS[1]
local text = ARGV[1]
return redis.call('RPUSH', list, text)`);

/** As it goes over the wire, and how often its keys were asked for. */
function encode(args: readonly Operand[], times: number, byText = false): [string, number] {
  let asked = 0;
  class Counted extends KeyList {
    override get names(): string {
      asked += 1;
      return super.names;
    }
  }
  const keys = new Counted(['k']);
  let encoded = '';
  for (let nth = 0; nth < times; nth += 1) {
    const run: ScriptRun<unknown> = { script, keys, args, read: (reply) => reply };
    encoded = script.encoded([{ run }], byText);
  }
  return [encoded, asked];
}

it('a list of operands that comes again is encoded once, and another list for itself', () => {
  const evalsha = (text: string) =>
    `*5\r\n$7\r\nevalsha\r\n$40\r\n${script.sha}\r\n$1\r\n1\r\n$1\r\nk\r\n$1\r\n${text}\r\n`;
  expect(encode(['a'], 3)).toEqual([evalsha('a'), 1]);
  expect(encode(['b'], 3)).toEqual([evalsha('b'), 1]);
});

it('a list that goes with the text of the script says so, also when its hash was sent before', () => {
  const args = ['a'];
  encode(args, 1);
  expect(encode(args, 1, true)[0]).toContain(script.source);
});
