import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['pages/*.spec.ts', '*.vitest.ts'], globals: true },
});
