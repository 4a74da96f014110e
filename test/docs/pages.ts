import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** What a user reads, by its path. */
export const PAGES: readonly string[] = [
  'README.md',
  ...readdirSync('docs')
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

export function textOf(page: string): string {
  return readFileSync(page, 'utf8');
}

/** A TypeScript block of a page: a file of its own, with its imports. */
export interface Block {
  /** Where it begins, for messages. */
  readonly place: string;
  readonly code: string;
}

export function blocksOf(page: string): Block[] {
  const text = textOf(page);
  return [...text.matchAll(/^```ts\b.*\n([^]*?)^```$/gm)].map(({ 0: whole, 1: code, index }) => {
    const line = text.slice(0, index + whole.indexOf('\n') + 1).split('\n').length;
    return { place: `${page}:${line}`, code: code! };
  });
}

/**
 * Runs every block of a page as a file of its own, and answers with all that they export. A block that is a test
 * becomes one of the spec that asks. A worker of Jest has a folder of its own, so that none reads what another writes.
 */
export async function pasted<Exports>(page: string): Promise<Exports> {
  const folder = resolve('.cache/docs', process.env['JEST_WORKER_ID'] ?? '1', page);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const all: Record<string, unknown> = {};
  for (const [nth, { place, code }] of blocksOf(page).entries()) {
    const file = `${folder}/block-${nth + 1}.ts`;
    writeFileSync(file, code);
    const exported = (await import(file)) as Record<string, unknown>;
    for (const [name, value] of Object.entries(exported)) {
      if (name in all) throw new Error(`${place}: another block of ${page} exports ${name} too.`);
      all[name] = value;
    }
  }
  return all as Exports;
}
