import { join } from 'node:path';
import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vitest/config';

/** What is waited for comes at once on a free machine; on a busy one it may take seconds. */
const patient = { poll: { timeout: 15_000 } };

export default defineConfig({
  test: {
    // Each test's home is its own; what Node has compiled is the same for all of their processes.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'tutti-compiled') },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 0 },
          expect: patient,
        },
      },
      {
        // The dashboard's components in a document without a browser; what needs layout or drawing is tested end to end.
        plugins: [vue()],
        test: {
          name: 'component',
          environment: 'happy-dom',
          include: ['test/component/**/*.test.ts'],
          sequence: { groupOrder: 0 },
          expect: patient,
        },
      },
      {
        test: {
          name: 'integration',
          // One after the other: their processes would take the cores from each other.
          sequence: { groupOrder: 1 },
          include: ['test/integration/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 60_000,
          fileParallelism: false,
          expect: patient,
        },
      },
      {
        test: {
          name: 'e2e',
          sequence: { groupOrder: 2 },
          // A browser on a machine that is busy with other things has surprised us; the report tells who needed a second try.
          retry: 2,
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/e2e/global-setup.ts'],
          // Longer than `patienceMs` of what a test waits for last, which then says what was missing.
          testTimeout: 240_000,
          hookTimeout: 240_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
