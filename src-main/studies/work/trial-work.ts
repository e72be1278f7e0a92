import { metricsOf, objectiveOf, scoresOf } from '../../../core/protocol/studies/results.ts';
import { trialsKnownTo } from '../../../core/protocol/studies/next-piece.ts';
import { isSame } from '../../../core/protocol/studies/study-log.ts';
import type { Part, Score } from '../../../core/protocol/studies/study-line.ts';
import type { Study } from '../../../core/protocol/studies/study.ts';
import { shouldStop } from '../../../core/studies/pruners/stop.ts';
import type { Trial } from '../../../core/studies/trial.ts';
import { messageOf } from '../../../core/text/errors.ts';
import type { CampaignWork } from '../../campaigns/work.ts';
import type { NewLine, StudyStore } from '../study-store.ts';
import type { WorkerSeat } from '../../runs/workers/shared-workers.ts';
import type { Evaluation, PartRun, PlannedPart, TrialRunner } from './runner.ts';
import { mergeConfig, type OptionDescription, type PlainObject, setPath } from '../../../core/options/index.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import { repeatedSeed } from '../../../core/protocol/run/sweep/sweep.ts';
import type { Assignment } from '../../../core/studies/space/space.ts';

/** The parts of each trial: all splits with the first seed, then with the next one. */
function partsOf({ splits, seeds }: Pick<Study, 'splits' | 'seeds'>): Part[] {
  return Array.from({ length: seeds }, (_, seed) => seed).flatMap((seed) =>
    Array.from({ length: Math.max(1, splits.length) }, (_, split) => ({ split, seed })),
  );
}

interface WorkOptions {
  store: StudyStore;
  runner: TrialRunner;
  worker: string;
  /** The piece of work. */
  work: number;
  place: number;
  /** Where it shares a worker with other trials, which it leaves at its end; null: it has its own. */
  seat: WorkerSeat | null;
}

/**
 * A piece of work on a study in this process: trains the parts of a trial one after the other, and writes to the log
 * what comes of them.
 */
export class TrialWork implements CampaignWork {
  readonly #options: WorkOptions;
  readonly #number: number;
  readonly #until: number | null;
  /** What a pruner compares with: the same however the trials overlap. */
  readonly #known: Trial[];
  #run: PartRun | null = null;
  #isStopping = false;
  #isPruned = false;
  #isAborted = false;
  /** Reports that are not in the log yet. */
  #unwritten: NewLine[] = [];
  readonly #reports: Trial['reports'];

  constructor(options: WorkOptions) {
    const { store, work } = options;
    const { trial, until } = store.log.works[work];
    this.#options = options;
    this.#number = trial;
    this.#until = until;
    this.#known = trialsKnownTo(store.study, store.log, work).filter(({ number }) => number !== trial);
    this.#reports = [...store.log.trials[trial].reports];
  }

  /** Its number. */
  get work(): number {
    return this.#options.work;
  }

  /** The number of its trial. */
  get trial(): number {
    return this.#number;
  }

  /** Lets it stop with its state; another process, or this one later, continues from there. */
  stop(): void {
    this.#isStopping = true;
    this.#run?.stop();
  }

  abort(): void {
    this.#isStopping = true;
    this.#isAborted = true;
    this.#run?.abort();
  }

  /** @returns `left` if it was given back, for another process or for later */
  async finish(): Promise<'done' | 'failed' | 'left'> {
    const { store, work, worker, seat } = this.#options;
    const failure = await this.#trainParts().finally(() => seat?.leave());
    if (failure !== null) {
      await this.#end('failed', failure);
      return 'failed';
    }
    if (!this.#isPruned && this.#isStopping) {
      await store.append([...this.#unwritten, { type: 'release', work, worker }]);
      return 'left';
    }
    if (this.#isPruned) await this.#end('pruned', null);
    else await this.#conclude();
    return 'done';
  }

  /** @returns why the trial failed; null if it did not */
  async #trainParts(): Promise<string | null> {
    const parts = partsOf(this.#options.store.study);
    for (const [index, part] of parts.entries()) {
      if (this.#isStopping || this.#isPruned) return null;
      if (this.#runOf(part)?.endedAt) continue;
      try {
        const failure = await this.#train(part, index);
        if (failure !== null) return failure;
      } catch (error) {
        return messageOf(error);
      }
    }
    return null;
  }

  async #train(part: Part, index: number): Promise<string | null> {
    const { store, runner, place, seat } = this.#options;
    const { values } = store.log.trials[this.#number];
    const earlier = this.#runOf(part)?.run ?? null;
    const planned = await runner.plan({ trial: this.#number, values, part, until: this.#until, earlier, place, seat });
    const { run, ranks, devices } = planned;
    // Written before the run begins, so that a process that takes over finds it.
    await store.append([{ type: 'run', number: this.#number, part, run, ranks, devices }]);
    if (this.#isStopping) return null;
    const means = this.#valuesOfEnded();
    this.#run = planned.start((evaluation) => this.#evaluated(evaluation, planned, index, means));
    // A stop may have come before there was a run to stop.
    if (this.#isAborted) this.#run.abort();
    const outcome = await this.#run.outcome;
    this.#run = null;
    if (this.#isPruned || outcome.kind === 'stopped') return null;
    if (outcome.kind === 'failed') return outcome.message;
    await this.#keepScores(part, index, outcome.scores);
    return null;
  }

  async #keepScores(part: Part, index: number, scores: Score[]): Promise<void> {
    const { store } = this.#options;
    const line: NewLine = { type: 'scores', number: this.#number, part, scores };
    const { pruner } = store.study;
    await store.append([...this.#unwritten.splice(0), line]);
    if (pruner.kind !== 'wilcoxon') return;
    this.#report(index, this.#valueOf(scores));
    this.#isPruned = this.#mustStop();
  }

  /** Reports the mean over the parts so far, and stops the run if the pruner says so. */
  #evaluated({ step, scores }: Evaluation, { epochs }: PlannedPart, index: number, means: readonly number[]): void {
    const { pruner } = this.#options.store.study;
    // Rungs compare reports at the same rung, and a report says how far a whole trial is.
    const { study } = this.#options.store;
    const hasOwnSteps = 'maximumResource' in pruner && (partsOf(study).length > 1 || study.resource === 'members');
    if (this.#isPruned || pruner.kind === 'wilcoxon' || hasOwnSteps) return;
    const values = [...means, this.#valueOf(scores)];
    if (!this.#report(index * epochs + step, values.reduce((sum, value) => sum + value, 0) / values.length)) return;
    if (!this.#mustStop()) return;
    this.#isPruned = true;
    this.#run?.stop();
  }

  /** @returns whether the report is new */
  #report(step: number, value: number): boolean {
    if (this.#reports.some((report) => report.step === step)) return false;
    this.#reports.push({ step, value });
    this.#unwritten.push({ type: 'report', number: this.#number, step, value });
    return true;
  }

  #mustStop(): boolean {
    const { study, log } = this.#options.store;
    const { values } = log.trials[this.#number];
    const trial: Trial = { number: this.#number, state: 'running', values, objectives: null, reports: this.#reports };
    return shouldStop(study.pruner, trial, this.#known, study.objectives[0].direction);
  }

  async #conclude(): Promise<void> {
    const { store } = this.#options;
    const { study, log } = store;
    const { pruner } = study;
    const scores = scoresOf(log.trials[this.#number], metricsOf(study));
    const objectives = study.objectives.map((objective) => objectiveOf(objective, scores).value);
    if ('maximumResource' in pruner && this.#until !== null) {
      this.#report(this.#until, objectives[0]);
      if (this.#until < pruner.maximumResource) return this.#end('paused', null);
    }
    await this.#end('complete', null, objectives);
  }

  #end(
    state: 'paused' | 'complete' | 'pruned' | 'failed',
    error: string | null,
    objectives: number[] | null = null,
  ): Promise<void> {
    const { store, work } = this.#options;
    const end: NewLine = { type: 'end', work, number: this.#number, state, objectives, error };
    return store.append([...this.#unwritten.splice(0), end]);
  }

  #runOf(part: Part) {
    return this.#options.store.log.trials[this.#number].runs.find((run) => isSame(run.part, part));
  }

  #valuesOfEnded(): number[] {
    const { runs } = this.#options.store.log.trials[this.#number];
    return runs.flatMap(({ endedAt, scores }) => (endedAt === null ? [] : [this.#valueOf(scores)]));
  }

  #valueOf(scores: readonly Score[]): number {
    const { metric, kind } = this.#options.store.study.objectives[0];
    const score = scores.find((one) => one.metric === metric);
    return (kind === 'ensemble' ? score?.ensemble : score?.meanMember) ?? NaN;
  }
}

/** Values by path as a layer of the configuration: a project's hyperparameter stands there under `hyperparameters`. */
export function layerOf(values: Assignment, hyperparameters: readonly Pick<OptionDescription, 'path'>[]): PlainObject {
  return Object.entries(values).reduce<PlainObject>((layer, [path, value]) => {
    const isOwn = hyperparameters.some((own) => own.path === path);
    return setPath(layer, isOwn ? `hyperparameters.${path}` : path, value);
  }, {});
}

/**
 * The changes to the project's defaults with which a part of a trial trains.
 * @param baseSeed of the study's first seed
 */
export function overridesOf(
  study: Study,
  { hyperparameters }: Pick<ProjectDescription, 'hyperparameters'>,
  { values, part, baseSeed }: { values: Assignment; part: Part; baseSeed: number },
): PlainObject {
  const split = study.splits.at(part.split) ?? {};
  return [layerOf(values, hyperparameters), layerOf(split, hyperparameters)].reduce(
    (merged, layer) => mergeConfig(merged, layer),
    { ...study.overrides, seed: repeatedSeed(baseSeed, part.seed) },
  );
}

/** Why rungs cannot count the members of a trial whose ranks all train one model. */
export function oneModelMessage(strategy: string): string {
  return (
    `With the strategy ${strategy} all ranks of a trial train one model, so rungs cannot count its members. ` +
    'Use --resource epochs, or the strategy independent.'
  );
}
