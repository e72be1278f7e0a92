import type { RunConfig } from '../../core/protocol/run/config.ts';
import { FollowedPlateau, PlateauSchedule } from './plateau-schedule.ts';
import type { Callback, Evaluation, Training } from './callback.ts';

/** What the other members of an ensemble decided before a missing member is completed. */
export interface DecisionsOfOthers {
  /** Saved states of their callbacks, by name. */
  callbacks: Readonly<Record<string, unknown>>;
  /** Their `ensemble-best` checkpoint; null if there is none. */
  best: { epoch: number; monitor: string | null; score: number | null } | null;
  /** Epoch of their kept predictions of the best evaluation; null if there are none. */
  bestPredictionsEpoch: number | null;
}

/**
 * Replaces the callbacks that decide for the whole ensemble, for a missing member that trains alone: it saves its
 * checkpoint and its predictions at the evaluation that was the ensemble's best, and does not stop before the others
 * did.
 */
export function followOthers(
  callbacks: readonly Callback[],
  { earlyStopping, keepPredictions }: Pick<RunConfig, 'earlyStopping' | 'keepPredictions'>,
  { callbacks: states, best, bestPredictionsEpoch }: DecisionsOfOthers,
): Callback[] {
  const saveCheckpoint = (training: Training) =>
    training.saveCheckpoint('ensemble-best', best?.monitor ?? null, best?.score ?? null);
  const savePredictions = (training: Training, { predictions }: Evaluation) =>
    training.savePredictions('best', predictions);
  return callbacks.map((callback) => {
    const { name } = callback;
    const follow = (epoch: number | null, act: Act) => new Follower(name, states[name], epoch, act);
    if (name === 'per-rank-best-checkpoint:ensemble-best') return follow(best?.epoch ?? null, saveCheckpoint);
    if (name === 'keep-predictions' && keepPredictions === 'best') return follow(bestPredictionsEpoch, savePredictions);
    if (name === 'early-stopping' && earlyStopping.joint) return follow(null, async () => {});
    if (callback instanceof PlateauSchedule && callback.isCommon) return new FollowedPlateau(states[name]);
    return callback;
  });
}

type Act = (training: Training, evaluation: Evaluation) => Promise<void>;

/** Acts at the evaluation of one epoch, and saves the others' state as its own. */
class Follower implements Callback {
  readonly name: string;
  readonly #state: unknown;
  readonly #epoch: number | null;
  readonly #act: Act;

  constructor(name: string, state: unknown, epoch: number | null, act: Act) {
    this.name = name;
    this.#state = state;
    this.#epoch = epoch;
    this.#act = act;
  }

  async onEvaluation(training: Training, evaluation: Evaluation): Promise<void> {
    if (training.epoch === this.#epoch) await this.#act(training, evaluation);
  }

  state(): unknown {
    return this.#state;
  }
}
