import { createHash } from 'node:crypto';
import { bulk, evalHead, type KeyList, type Operand } from './resp.js';

/** What one run of the step is sent with. */
interface Step {
  readonly run: { readonly keys: KeyList; readonly args: readonly Operand[] };
}

/** A line of a step that makes a table for all runs. */
const SHARED = /^local [A-Z]+ = \{.*\}$/gm;

/**
 * A script that takes the step of another one for several runs, each with as many operands as the others.
 * Answers with an answer for each; where a step failed, its error. A table that the step names in capitals is one for all.
 */
export class BatchedScript {
  readonly source: string;
  readonly #named: string;

  /** `step` is its text without the lines that declare these keys and arguments. */
  constructor(step: string, keys: readonly string[], args: readonly string[]) {
    const width = keys.length;
    if (/\b(?:KEYS|ARGV)\b/.test(step))
      throw new TypeError('A script that counts its operands cannot be merged.');
    // Redis 6 raises a text, Redis 7 a table as an answer would be.
    const shared = step.match(SHARED)?.join('\n') ?? '';
    this.source = `${shared}
local function step(${[...keys, ...args].join(', ')})
${step.replaceAll(SHARED, '')}
end
local runs = #KEYS / ${width}
local operands, answers = #ARGV / runs, {}
for nth = 1, runs do
  local key, operand = (nth - 1) * ${width} + 1, (nth - 1) * operands + 1
  local done, answer = pcall(step, ${keys.map((_, at) => `KEYS[key + ${at}]`).join(', ')}, unpack(ARGV, operand, operand + operands - 1))
  if not done and type(answer) == 'string' then
    answer = { err = answer }
  end
  answers[nth] = answer or false
end
return answers`;
    this.#named = bulk('evalsha') + bulk(createHash('sha1').update(this.source).digest('hex'));
  }

  /** The EVALSHA, or EVAL, as it goes over the wire. */
  wire(runs: readonly Step[], byText: boolean): string {
    let keys = '';
    let args = '';
    for (const { run } of runs) {
      keys += run.keys.names;
      for (const arg of run.args) args += bulk(arg);
    }
    const { run } = runs[0]!;
    const width = run.keys.keys.length;
    const operands = runs.length * (width + run.args.length);
    const head = byText ? evalHead(operands, this.source) : `*${operands + 3}\r\n${this.#named}`;
    return `${head}${bulk(runs.length * width)}${keys}${args}`;
  }
}
