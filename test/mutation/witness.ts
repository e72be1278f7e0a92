import { type Limits, runTests } from './run-tests.ts';
import type { Sandbox } from './sandbox.ts';

/**
 * Tells whether tests pass without any change, because a test that fails anyway notices nothing. Checks each test once
 * per run, when it first fails.
 */
export class Witness {
  readonly #sandbox: Sandbox;
  readonly #answers = new Map<string, Promise<boolean>>();
  #last: Promise<unknown> = Promise.resolve();

  /** @param sandbox a copy in which nothing is ever changed */
  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  /** The test files that fail without any change, or time out. */
  async unreliableOf(tests: readonly string[], limits: Limits): Promise<string[]> {
    const answers = await Promise.all(tests.map((test) => this.#passes(test, limits)));
    return tests.filter((_, index) => !answers[index]);
  }

  #passes(test: string, limits: Limits): Promise<boolean> {
    const known = this.#answers.get(test);
    if (known !== undefined) return known;
    const answer = this.#last.then(async () => {
      const { hasFailed, isTimedOut } = await runTests(this.#sandbox, [test], limits, true);
      if (hasFailed || isTimedOut) console.log(`${test} fails without a change, and is left out.`);
      return !hasFailed && !isTimedOut;
    });
    this.#last = answer.catch(() => {});
    this.#answers.set(test, answer);
    return answer;
  }
}
