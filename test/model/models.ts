// The models of the protocol in docs/model, and what verifies them.
import { readdirSync, readFileSync } from 'node:fs';

export interface Run {
  readonly bounds?: Record<string, number>;
  readonly progress?: boolean;
}
interface Mistake extends Run {
  readonly mistake: string;
  readonly at: string;
  readonly breaks: string;
}
interface Model {
  readonly name: string;
  readonly runs: readonly Run[];
  readonly mistakes: readonly Mistake[];
}
interface Found {
  readonly broken?: string;
  readonly states: number;
}

const tools = '../../tools/model/';
export const { MODELS } = (await import(`${tools}table.mjs`)) as { MODELS: readonly Model[] };
export const { MODEL_FOLDER, missingTools, judge, verify } = (await import(`${tools}spin.mjs`)) as {
  MODEL_FOLDER: string;
  missingTools: () => string | undefined;
  judge: (said: string) => Found;
  verify: (run: Run & { name: string; at?: string }) => Promise<Found>;
};

/** The names of their files. */
export const files = readdirSync(MODEL_FOLDER).filter((name) => name.endsWith('.pml'));
/** What stands in all of them. */
export const all = files.map((file) => readFileSync(`${MODEL_FOLDER}/${file}`, 'utf8')).join('\n');
