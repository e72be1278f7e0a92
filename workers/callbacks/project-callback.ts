import { Generator, installAsMathRandom } from '../random/index.ts';
import { tf } from '../tensorflow/tf.ts';
import { copyForProject, type Predictions } from '../member/predictions.ts';
import { copyWeights, type WeightValues } from '../member/weights.ts';
import type { Callback, Evaluation, StepEnd, Training } from './callback.ts';

/** A rank's training, as a project's callback sees it. */
export interface ObservedTraining {
  /** This rank. */
  readonly rank: number;
  /** M, the members of the ensemble. */
  readonly members: number;
  /** Zero-based epoch. */
  readonly epoch: number;
  /** Steps done. */
  readonly step: number;
  /** Adds a point to the metric `<callback>/member_<rank>_<name>`; the name has letters, digits, "-" and "_". */
  readonly log: (name: string, value: number) => void;
  /** Prints a line to the user and to the run's events. */
  readonly print: (line: string) => void;
}

/** An evaluation, as a project's callback sees it. */
export interface ObservedEvaluation extends ObservedTraining {
  /** Metrics of the validation split by full name, e.g. `val/ens_nll`. */
  readonly metrics: ReadonlyMap<string, number>;
  /** A copy of this rank's predictions for the validation split. */
  readonly predictions: Predictions;
  /** Returns copies of this rank's weights by their names in checkpoints, e.g. `dense_0/kernel`. */
  readonly weights: () => Map<string, WeightValues>;
}

/**
 * A project's callback, which observes a rank's training and logs metrics. It receives copies, draws from a separate
 * random stream, and its return values are ignored, so a run gives the same bits with and without it.
 */
export interface ProjectCallback {
  /** Prefix of its metrics' names: letters, digits, "-" and "_". */
  readonly name: string;
  /** Called after each step of the rank. */
  onStepEnd?(step: ObservedTraining & Readonly<StepEnd>): void;
  /** Called after each epoch of the rank. */
  onEpochEnd?(epoch: ObservedTraining): void;
  /** Called at each evaluation, after the run's callbacks have computed the metrics. */
  onEvaluation?(evaluation: ObservedEvaluation): void;
}

const namePattern = /^[\w-]+$/;
/** Metrics of the run itself begin so. */
const takenNames = new Set(['train', 'val', 'test']);

/** Calls a project's callback. If it throws, the run announces that, continues, and does not call it again. */
export class ObservingCallback implements Callback {
  readonly name: string;
  readonly #observer: ProjectCallback;
  readonly #seed: number;
  readonly #explain: (error: unknown) => string;
  #isOff = false;

  /**
   * @param seed of the rank
   * @param explain describes an error of the project's code
   * @throws when its name cannot head metrics
   */
  constructor(observer: ProjectCallback, seed: number, explain: (error: unknown) => string) {
    if (!namePattern.test(observer.name) || takenNames.has(observer.name)) {
      throw new Error(
        `The project has a callback "${observer.name}", which cannot head the names of metrics: use letters, ` +
          `digits, "-" and "_", and none of ${[...takenNames].join(', ')}.`,
      );
    }
    this.name = `project:${observer.name}`;
    this.#observer = observer;
    this.#seed = seed;
    this.#explain = explain;
  }

  onStepEnd(training: Training, { loss, learningRate }: StepEnd): void {
    const observer = this.#observer;
    if (observer.onStepEnd === undefined) return;
    this.#call(training, 'onStepEnd', () => observer.onStepEnd?.({ ...this.#see(training), loss, learningRate }));
  }

  async onEpochEnd(training: Training): Promise<void> {
    this.#call(training, 'onEpochEnd', () => this.#observer.onEpochEnd?.(this.#see(training)));
  }

  async onEvaluation(training: Training, { metrics, predictions }: Evaluation): Promise<void> {
    this.#call(training, 'onEvaluation', () =>
      this.#observer.onEvaluation?.({
        ...this.#see(training),
        metrics: new Map(metrics),
        predictions: copyForProject(predictions),
        weights: () => copyWeights(training.model),
      }),
    );
  }

  #see(training: Training): ObservedTraining {
    const { rank, members, epoch, step } = training;
    const log = (name: string, value: number): void => {
      if (!namePattern.test(name)) {
        throw new Error(`"${name}" cannot name a metric: use letters, digits, "-" and "_", as in "gradient-norm".`);
      }
      training.log(`${this.#observer.name}/member_${rank}_${name}`, value);
    };
    return { rank, members, epoch, step, log, print: (line) => training.announce('print', line) };
  }

  /** Its random stream depends only on seed, hook and step, so a resumed run draws the same numbers. */
  #call(training: Training, hook: string, body: () => unknown): void {
    if (this.#isOff) return;
    const restore = installAsMathRandom(new Generator(this.#seed, `${this.name}/${hook}/${training.step}`));
    try {
      tf.tidy(() => refusePromise(body()));
    } catch (error) {
      this.#isOff = true;
      const message =
        `The project's callback "${this.#observer.name}" failed in ${hook} and is called no ` +
        `more: ${this.#explain(error)}`;
      training.announce('callback-failed', message);
    } finally {
      restore();
    }
  }
}

/** Work that continues after a hook has returned would run while the rank trains. */
function refusePromise(returned: unknown): void {
  if (!(returned instanceof Promise)) return;
  // The promise itself is the mistake; its outcome does not matter.
  returned.catch(() => undefined);
  throw new Error('It returned a promise. Hooks of callbacks are plain functions: leave out async.');
}
