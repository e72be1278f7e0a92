import { statSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Projects whose files take seconds to a minute, most of which their processes and pages wait. */
const isSlow = ({ name }: TestSpecification['project']): boolean => /(integration|e2e)$/.test(name);

/**
 * Starts the slow files first and fills the gaps with the unit tests, so that no core waits for one long file at the
 * end. Size stands for duration: durations of an earlier run are unknown in continuous integration.
 */
export default class LongestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const keyed = files.map((file) => ({
      file,
      isSlow: isSlow(file.project),
      bytes: statSync(file.moduleId).size,
    }));
    keyed.sort((a, b) => Number(b.isSlow) - Number(a.isSlow) || b.bytes - a.bytes);
    return Promise.resolve(keyed.map(({ file }) => file));
  }
}
