// The same as main.ts, as a test of Vitest.
import { writeFileSync } from 'node:fs';
import { it } from 'vitest';
import { outcomes } from './app.js';

it('says what became of each method', async () => {
  writeFileSync('outcomes.json', JSON.stringify(await outcomes()));
});
