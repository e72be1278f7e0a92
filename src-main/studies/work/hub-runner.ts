import { join } from 'node:path';
import { mergeConfig } from '../../../core/options/index.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import {
  memberCount,
  memberCountOf,
  ranksForMembers,
} from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import type { Study } from '../../../core/protocol/studies/study.ts';
import type { RunUpdate } from '../../../core/protocol/pages/run-updates.ts';
import { CampaignRun } from '../../campaigns/work.ts';
import type { Hub } from '../../hub/hub.ts';
import { NothingLeftError } from '../../runs/attempt/resume-run.ts';
import { resolveConfig } from '../../runs/configuration/resolve-config.ts';
import type { RunSession } from '../../runs/attempt/run-session.ts';
import { homePaths } from '../../store/home.ts';
import { holdsRun } from '../../store/runs/known-folders.ts';
import { readRunRecord } from '../../store/runs/run-folder.ts';
import { changeRunNotes } from '../../store/runs/run-notes.ts';
import {
  EvaluationCollector,
  readEvaluations,
  type ScoredRun,
  scoredRunOf,
  scoresOfRun,
  wantedMetrics,
  type WantedMetric,
} from './run-scores.ts';
import type { Evaluation, PartJob, PartOutcome, PartRun, PlannedPart, TrialRunner } from './runner.ts';
import { oneModelMessage, overridesOf } from './trial-work.ts';

/** The tag of a study's runs. */
export const tagOf = ({ id }: Pick<Study, 'id'>): string => `study:${id}`;

/** Trains the parts of trials as ordinary runs, which have the study's tag. */
export class HubRunner implements TrialRunner {
  readonly #hub: Hub;
  readonly #study: Study;
  readonly #project: ProjectDescription;
  readonly #metrics: WantedMetric[];
  /** Devices of each place. */
  readonly #devices: readonly string[];

  /** @param devices of each place, as a selection */
  constructor(hub: Hub, study: Study, project: ProjectDescription, devices: readonly string[]) {
    this.#hub = hub;
    this.#study = study;
    this.#project = project;
    this.#metrics = wantedMetrics(study);
    this.#devices = devices;
  }

  async plan(job: PartJob): Promise<PlannedPart> {
    const folder = job.earlier === null ? null : join(homePaths().runs, job.earlier);
    if (folder !== null && holdsRun(folder)) {
      const record = await readRunRecord(folder);
      // A run keeps its members, so that a rung of more members is a new run.
      if (!this.#countsMembers(job) || memberCountOf(record.config) === job.until)
        return this.#goOn(job, folder, record);
    }
    const config = this.#configOf(job);
    const planned = await this.#hub.planRun(
      {
        projectFolder: this.#study.project.folder,
        overrides: [config],
        name: `${this.#study.name}, trial ${job.trial}`,
      },
      this.#project,
    );
    const { id, plan } = planned;
    return {
      run: id,
      ranks: null,
      devices: devicesOf(plan),
      epochs: planned.config.maxEpochs,
      start: (onEvaluation) =>
        this.#run(planned.folder, this.#scored(planned.config), onEvaluation, (listener) =>
          Promise.resolve(this.#hub.start(planned, listener, job.seat)),
        ),
    };
  }

  /** A run that an earlier process began, or that paused. */
  #goOn(job: PartJob, folder: string, { id, plan, config }: RunRecord): PlannedPart {
    const scored = this.#scored(config);
    const longer = job.until === null || this.#countsMembers(job) ? {} : { maxEpochs: job.until };
    return {
      run: id,
      ranks: null,
      devices: devicesOf(plan),
      epochs: config.maxEpochs,
      start: (onEvaluation) =>
        this.#run(folder, scored, onEvaluation, async (listener) => {
          for (const evaluation of await readEvaluations(folder, scored)) onEvaluation(evaluation);
          try {
            return await this.#hub.resume(folder, longer, listener, { seat: job.seat });
          } catch (error) {
            if (error instanceof NothingLeftError) return null;
            throw error;
          }
        }),
    };
  }

  #countsMembers({ until }: PartJob): boolean {
    return until !== null && this.#study.resource === 'members';
  }

  #configOf({ values, part, until, place }: PartJob) {
    const baseSeed = resolveConfig(this.#project, [this.#study.overrides]).seed;
    const overrides = overridesOf(this.#study, this.#project, { values, part, baseSeed });
    const device = this.#devices[place % this.#devices.length];
    const { strategy } = resolveConfig(this.#project, [overrides]);
    const config = mergeConfig(overrides, { ...this.#lengthOf(until, strategy), devices: device });
    if (this.#study.trialsPerWorker === 1) return config;
    // All ranks of a trial are in one worker, and are computed as a stack there also where it is a single one.
    const { members: ranks } = resolveConfig(this.#project, [config]);
    return mergeConfig(config, { placement: 'share', membersPerDevice: Math.max(2, ranks) });
  }

  /**
   * What a run has up to its next rung. Its schedule is spread over a whole trial, so that going on repeats the bits of
   * one that never paused.
   */
  #lengthOf(
    until: number | null,
    strategy: RunConfig['strategy'],
  ): { members?: number; maxEpochs?: number; scheduleEpochs?: number } {
    const { pruner, resource } = this.#study;
    if (until === null || !('maximumResource' in pruner)) return {};
    if (resource === 'epochs') return { maxEpochs: until, scheduleEpochs: pruner.maximumResource };
    const ranks = ranksForMembers(strategy, memberCount(until));
    if (ranks === null) throw new Error(oneModelMessage(strategy.kind));
    return { members: ranks };
  }

  #scored(config: RunConfig): ScoredRun {
    return scoredRunOf(this.#metrics, { config, task: this.#project.task });
  }

  /** @param open starts the session; null: the run has ended already */
  #run(
    folder: string,
    scored: ScoredRun,
    onEvaluation: (evaluation: Evaluation) => void,
    open: (listener: (update: RunUpdate) => void) => Promise<RunSession | null>,
  ): PartRun {
    const collector = new EvaluationCollector(scored);
    const run = new CampaignRun();
    let isTraining = false;
    const listener = (update: RunUpdate): void => {
      isTraining ||= update.type === 'worker' && update.state === 'training';
      if (update.type === 'points') collector.take(update.batch).forEach(onEvaluation);
    };
    const train = async (): Promise<PartOutcome> => {
      const session = await open(listener);
      const record = session === null ? await readRunRecord(folder) : await run.train(session);
      await this.#tag(folder);
      return this.#outcomeOf(folder, record, run.isAsked);
    };
    // Ranks that are not ready have nothing to save, and may take long to become ready.
    const stop = (): void => (isTraining ? run.stop() : run.abort());
    return { outcome: train(), stop, abort: () => run.abort() };
  }

  async #outcomeOf(folder: string, record: RunRecord, isEnded: boolean): Promise<PartOutcome> {
    const { status, error, config } = record;
    if (status === 'failed') return { kind: 'failed', message: error?.message ?? 'The run failed.' };
    if (status !== 'finished') {
      if (isEnded) return { kind: 'stopped' };
      return { kind: 'failed', message: `The run ${record.id} was ${status} by somebody else.` };
    }
    const evaluations = await readEvaluations(folder, this.#scored(config));
    return { kind: 'ended', scores: scoresOfRun(evaluations, this.#metrics, this.#study.evaluation) };
  }

  async #tag(folder: string): Promise<void> {
    this.#hub.index.annotate(folder, await changeRunNotes(folder, { tags: [tagOf(this.#study)] }));
  }
}

function devicesOf(plan: RunRecord['plan']): string[] {
  return [...new Set(plan.map(({ device }) => device.id))];
}
