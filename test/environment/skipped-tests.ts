/** Tests that did not run, and how many of them continuous integration allows. */

export interface SkippedTest {
  /** Includes the names of its groups. */
  name: string;
  /** The reason given by the test when it skipped itself. Other tests have the reason in their names. */
  note: string;
}

/** Allows up to `most` skipped tests with a reason that contains `reason`. */
export interface AllowedSkips {
  reason: string;
  most: number;
}

export const describeSkipped = ({ name, note }: SkippedTest): string =>
  note === '' ? name : `${name} (not run: ${note})`;

/**
 * Objections to the tests that did not run, one sentence each. Empty if all are allowed.
 * @param absent names in reasons of what could not be set up on this machine, for example "WebGPU": any number of tests
 * may lack it
 */
export function judgeSkipped(
  skipped: readonly SkippedTest[],
  allowed: readonly AllowedSkips[],
  absent: readonly string[] = [],
): string[] {
  const without = (tests: readonly SkippedTest[], reason: string): SkippedTest[] =>
    tests.filter((test) => !describeSkipped(test).includes(reason));
  const objections: string[] = [];
  let rest = absent.reduce(without, skipped);
  for (const { reason, most } of allowed) {
    const others = without(rest, reason);
    const count = rest.length - others.length;
    if (count > most) objections.push(`${count} tests did not run because "${reason}"; at most ${most} may.`);
    rest = others;
  }
  return [
    ...objections,
    ...rest.map(
      (test) => `It must run, or test/environment/allowed-skips.json must say why not: ${describeSkipped(test)}`,
    ),
  ];
}

/** One line on the tests of the desktop app. @param states of all its tests */
export function countInElectron(states: readonly ('passed' | 'failed' | 'skipped' | 'pending')[]): string {
  const count = (wanted: string): number => states.filter((state) => state === wanted).length;
  const [passed, failed] = [count('passed'), count('failed')];
  const notRun = states.length - passed - failed;
  return `Tests in a real Electron: ${passed + failed} ran, ${passed} passed, ${failed} failed, ${notRun} did not run`;
}
