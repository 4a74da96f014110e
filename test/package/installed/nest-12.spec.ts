import { describeApplication, JEST } from './application.js';

const ESM = ['--experimental-vm-modules', ...JEST];
const VITEST = ['node_modules/vitest/vitest.mjs', 'run'];

describeApplication('nest-12', 'a Nest 12 ESM application', {
  '@swc/jest in Jest 30': ESM,
  'ts-jest in Jest 30': [...ESM, '--config=jest.ts.json'],
  'Vitest in threads': [...VITEST, '--pool=threads'],
  // That pool cannot load supertest, whatever is tested with it.
  'Vitest in vmThreads': [...VITEST, '--pool=vmThreads', '--exclude=pages/e2e-*'],
});
