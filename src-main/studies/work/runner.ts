import type { Part, Score } from '../../../core/protocol/studies/study-line.ts';
import type { WorkerSeat } from '../../runs/workers/shared-workers.ts';
import type { Assignment } from '../../../core/studies/space/space.ts';

/** A part of a trial to train: one split of the data and one base seed. */
export interface PartJob {
  trial: number;
  values: Assignment;
  part: Part;
  /** Epochs, or members, after which the trial pauses; null: it trains to its end. */
  until: number | null;
  /** The run that an earlier process began for this part, or that paused; null: none. */
  earlier: string | null;
  /** Which of this process's places it takes, from 0. Each has its own devices. */
  place: number;
  /** Where it shares a worker with other trials; null: it has its own. */
  seat: WorkerSeat | null;
}

/** The metrics of a run at an evaluation. */
export interface Evaluation {
  /** Epochs done. */
  step: number;
  scores: Score[];
}

/** A part that has a run, which may not have started. */
export interface PlannedPart {
  run: string;
  ranks: number[] | null;
  /** Ids of its devices. */
  devices: string[];
  /** Epochs of the whole run. */
  epochs: number;
  /**
   * Starts the run, or continues with it.
   * @param onEvaluation called for each evaluation, in order, also for those of earlier processes
   */
  start(onEvaluation: (evaluation: Evaluation) => void): PartRun;
}

export type PartOutcome =
  { kind: 'ended'; scores: Score[] } | { kind: 'stopped' } | { kind: 'failed'; message: string };

export interface PartRun {
  /** Rejects only where the run's files cannot be written. */
  outcome: Promise<PartOutcome>;
  /** Lets the run stop with its state, from which it can go on. */
  stop(): void;
  /** Ends it at once. */
  abort(): void;
}

/** Trains parts of trials: by real runs, or in the memory of a test. */
export interface TrialRunner {
  /** @throws Error if the part cannot be trained: its values exclude each other, for instance */
  plan(job: PartJob): Promise<PlannedPart>;
}
