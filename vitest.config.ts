import { availableParallelism, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vitest/config';
import { compiledPrograms } from './test/environment/compiled-programs.ts';
import LongestFirst from './test/environment/longest-first.ts';
import { longUnitTests, quickEndToEndTests, quickIntegrationTests } from './test/environment/two-speeds.ts';

/**
 * Polled values arrive immediately on an idle machine, and after half a minute on one with a load of 30. Below the limit of a unit test, so that
 * the error names the value.
 */
const patient = { poll: { timeout: 50_000 } };

/** What tests of a kind share. */
const kinds = {
  unit: { testTimeout: 60_000, hookTimeout: 60_000, expect: patient },
  // Components of the dashboard in a document without a browser. End-to-end tests cover layout and drawing.
  component: { environment: 'happy-dom', testTimeout: 60_000, hookTimeout: 60_000, expect: patient },
  integration: {
    env: { TUTTI_PROGRAMS: compiledPrograms },
    globalSetup: ['test/environment/compiled-programs.ts'],
    testTimeout: 180_000,
    hookTimeout: 60_000,
    expect: patient,
  },
  e2e: {
    env: { TUTTI_PROGRAMS: compiledPrograms },
    globalSetup: ['test/environment/compiled-programs.ts', 'test/e2e/global-setup.ts'],
    // Longer than `patienceMs` of a test's last wait, whose error names what was missing.
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
};

/** Tests of a kind, named after it unless `files` says otherwise. */
function project(kind: keyof typeof kinds, files: { name?: string; include: string[]; exclude?: string[] }) {
  return { plugins: kind === 'component' ? [vue()] : [], test: { name: kind, ...kinds[kind], ...files } };
}

export default defineConfig({
  test: {
    // Every test has a separate home, but all their processes share Node's compiled code.
    env: {
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'tutti-compiled'),
      // Runs place their members alike on every machine; the tests of the measurement measure.
      TUTTI_MEASURE_SECONDS: '0',
      // The tests' projects: those of the repository, and those that tests write.
      TUTTI_TRUST: [import.meta.dirname, tmpdir()].join(delimiter),
    },
    // One more than there are cores: integration tests and pages wait for a quarter of their time.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './test/environment/report-skipped.ts'],
    projects: [
      // `npm test` runs these four; those named "long" are the rest of `npm run test:all`.
      project('unit', { include: ['test/unit/**/*.test.ts'], exclude: longUnitTests }),
      project('component', { include: ['test/component/**/*.test.ts'] }),
      project('integration', { include: quickIntegrationTests }),
      project('e2e', { include: quickEndToEndTests }),
      project('unit', { name: 'long unit', include: longUnitTests }),
      project('integration', {
        name: 'long integration',
        include: ['test/integration/**/*.test.ts'],
        exclude: quickIntegrationTests,
      }),
      project('e2e', { name: 'long e2e', include: ['test/e2e/**/*.test.ts'], exclude: quickEndToEndTests }),
    ],
  },
});
