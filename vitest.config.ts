import { availableParallelism, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vitest/config';
import { compiledPrograms } from './test/environment/compiled-programs.ts';
import LongestFirst from './test/environment/longest-first.ts';

/**
 * Polled values arrive immediately on an idle machine, and after half a minute on one with a load of 30. Below the limit of a unit test, so that
 * the error names the value.
 */
const patient = { poll: { timeout: 50_000 } };

export default defineConfig({
  test: {
    // Every test has a separate home, but all their processes share Node's compiled code.
    env: {
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'tutti-compiled'),
      // The tests' projects: those of the repository, and those that tests write.
      TUTTI_TRUST: [import.meta.dirname, tmpdir()].join(delimiter),
    },
    // One more than there are cores: integration tests and pages wait for a quarter of their time.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './test/environment/report-skipped.ts'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: patient,
        },
      },
      {
        // Components of the dashboard in a document without a browser. End-to-end tests cover layout and drawing.
        plugins: [vue()],
        test: {
          name: 'component',
          environment: 'happy-dom',
          include: ['test/component/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: patient,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          env: { TUTTI_PROGRAMS: compiledPrograms },
          globalSetup: ['test/environment/compiled-programs.ts'],
          testTimeout: 180_000,
          hookTimeout: 60_000,
          expect: patient,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          env: { TUTTI_PROGRAMS: compiledPrograms },
          globalSetup: ['test/environment/compiled-programs.ts', 'test/e2e/global-setup.ts'],
          // Longer than `patienceMs` of a test's last wait, whose error names what was missing.
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
    ],
  },
});
