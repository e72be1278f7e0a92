import type { Reporter, TestModule, Vitest } from 'vitest/node';
import allowed from './allowed-skips.json' with { type: 'json' };
import { countInElectron, describeSkipped, judgeSkipped } from './skipped-tests.ts';

/**
 * Prints the tests that did not run, with their reasons. In continuous integration (`CI=true`) the run fails where more
 * are skipped than `allowed-skips.json` allows. `TUTTI_TESTS_LACK` names what cannot be set up on that machine, for
 * example `TensorFlow,WebGPU`.
 */
export default class ReportSkipped implements Reporter {
  #isFiltered = false;

  onInit({ config }: Vitest): void {
    // A pattern of names (`-t`) skips the other tests on purpose.
    this.#isFiltered = config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (this.#isFiltered) return;
    const inElectron = modules.filter(({ relativeModuleId }) => relativeModuleId.startsWith('test/e2e/desktop/'));
    if (inElectron.length > 0) {
      const states = inElectron.flatMap((module) => [...module.children.allTests()]).map((test) => test.result().state);
      console.log(`\n${countInElectron(states)}`);
    }
    const skipped = modules
      .flatMap((module) => [...module.children.allTests('skipped')])
      .map((test) => {
        const result = test.result();
        return { name: test.fullName, note: (result.state === 'skipped' && result.note) || '' };
      });
    if (skipped.length === 0) return;
    print(`Tests that did not run (${skipped.length}):`, skipped.map(describeSkipped));
    if (process.env.CI !== 'true') return;
    const absent = (process.env.TUTTI_TESTS_LACK ?? '').split(',').filter((name) => name !== '');
    const objections = judgeSkipped(skipped, allowed, absent);
    if (objections.length === 0) return;
    print('Too many tests did not run:', objections);
    process.exitCode = 1;
  }
}

function print(title: string, lines: readonly string[]): void {
  console.log(`\n${title}\n${lines.map((line) => `  ${line}`).join('\n')}`);
}
