import { type Limits, runTests } from './run-tests.ts';
import type { Sandbox } from './sandbox.ts';

/** Says whether tests pass without any change: what fails anyway notices nothing. Each is asked once a run, when it first fails. */
export class Witness {
  readonly #sandbox: Sandbox;
  readonly #answers = new Map<string, Promise<boolean>>();
  #last: Promise<unknown> = Promise.resolve();

  /** @param sandbox in which nothing is ever changed */
  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  passes(tests: readonly string[], limits: Limits): Promise<boolean> {
    const key = tests.join(' ');
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const answer = this.#last.then(async () => {
      const { hasFailed, isTimedOut } = await runTests(this.#sandbox, tests, limits, true);
      return !hasFailed && !isTimedOut;
    });
    this.#last = answer.catch(() => {});
    this.#answers.set(key, answer);
    return answer;
  }

  /** Those that failed without any change, or did not end in time. */
  async unreliable(): Promise<string[]> {
    const answers = await Promise.all(
      [...this.#answers].map(async ([tests, answer]) => ({ tests, passes: await answer })),
    );
    return answers.filter(({ passes }) => !passes).map(({ tests }) => tests);
  }
}
