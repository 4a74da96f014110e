import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';

// One invocation tests one pair of majors: NEST=11|12 (default 12), IOREDIS=5|6 (default 6).
const nest = process.env.NEST ?? '12';
const ioredis = process.env.IOREDIS ?? '6';
/** What is installed for Nest 11; other packages of Nest work with both. */
const nest11 = readdirSync(new URL('test/nest-11/node_modules/@nestjs', import.meta.url)).join('|');

/** @type {import('jest').Config} */
export default {
  testEnvironment: '<rootDir>/tools/jest-environment.mjs',
  testSequencer: '<rootDir>/tools/test/longest-first.mjs',
  rootDir: '.',
  // Not by testPathIgnorePatterns, which a part that skips something says anew.
  testMatch: [
    '<rootDir>/test/**/*.spec.ts',
    ...(process.env.GROUPED ? ['<rootDir>/test/.groups/*.ts'] : []),
    '!**/node_modules/**',
    '!**/test/package/consumers/**',
  ],
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/build'],
  extensionsToTreatAsEsm: ['.ts', '.lua', '.html'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node', 'lua', 'html'],
  moduleNameMapper: {
    ...(nest === '11' && {
      [`^@nestjs/(${nest11})(/.*)?$`]: '<rootDir>/test/nest-11/node_modules/@nestjs/$1$2',
    }),
    ...(ioredis === '5' && { '^ioredis$': 'ioredis-5' }),
    '^nest-redis-lock$': '<rootDir>/lib/index.ts',
    '^nest-redis-lock/([\\w-]+)$': [
      '<rootDir>/lib/watch/$1/index.ts',
      '<rootDir>/lib/memory/$1/index.ts',
    ],
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: {
    '^.+\\.ts$': ['@swc/jest', {}],
    '^.+\\.lua$': '<rootDir>/tools/jest-lua.mjs',
    '^.+\\.html$': '<rootDir>/tools/jest-page.mjs',
  },
  // Most tests wait for time or for a server: four at a time also where there are two cores.
  maxWorkers: Math.max(4, availableParallelism() - 1),
  // A worker keeps something of each file that it has run, so it is replaced now and then.
  workerIdleMemoryLimit: '300MB',
  // A limit ends what hangs, and says nothing of speed: in the full run long specs go on beside each other.
  testTimeout: process.env.FULL ? 300_000 : 60_000,
  collectCoverageFrom: ['lib/**/*.ts', '!lib/index.ts'],
  coverageProvider: 'v8',
};
