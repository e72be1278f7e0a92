import type { StartedRun } from '../../../core/protocol/pages/project-views.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import { sweepRunId } from '../../../core/protocol/run/sweep/sweep.ts';
import type { Hub } from '../../hub/hub.ts';
import type { TrainRequest } from '../../hub/plan-run.ts';
import type { TrainingWork } from '../../hub/training-work.ts';
import { OwnCampaigns } from '../../campaigns/own-campaigns.ts';
import { newSweep, openSweep, type SweepPlan } from '../../campaigns/sweep-plan.ts';
import { SweepWork } from '../../campaigns/sweep-work.ts';

export interface SweepServiceParts {
  hub: Hub;
  /** Counts the sweeps, and follows their runs. */
  training: TrainingWork;
  onError: (error: unknown) => void;
}

/**
 * The sweeps that this process trains for pages. They go on whether or not a page shows them, and end with the process.
 */
export class SweepService {
  readonly #parts: SweepServiceParts;
  readonly #own: OwnCampaigns;

  constructor(parts: SweepServiceParts) {
    this.#parts = parts;
    this.#own = new OwnCampaigns(parts.training);
  }

  /** Number of sweeps that this process trains. */
  get size(): number {
    return this.#own.size;
  }

  /** Starts a sweep. Resolves once its first run is on the disk. @throws if that cannot start */
  async start(request: TrainRequest, project: ProjectDescription, repeat: number): Promise<StartedRun> {
    const plan = await newSweep(this.#parts.hub, request, project, repeat);
    await this.#train(plan);
    return { id: sweepRunId(plan.sweep, 0), sweep: plan.sweep.id };
  }

  /** Trains what is left of a sweep. @throws if its project's code has changed, or nothing can start */
  async resume(id: string): Promise<void> {
    if (this.#own.has(id)) return;
    const plan = await openSweep(this.#parts.hub, id);
    if (!this.#own.has(id)) await this.#train(plan);
  }

  /** @throws if another process trains the sweep */
  stop(id: string): void {
    if (!this.#own.has(id)) {
      throw new Error(`The sweep ${id} does not train in this process. Stop it where it was started, with Ctrl-C.`);
    }
    void this.#own.stop(id);
  }

  /** Ends the runs of this process at once. They continue from their states once their sweep continues. */
  close(): Promise<void> {
    return this.#own.close();
  }

  async #train(plan: SweepPlan): Promise<void> {
    const { hub, training, onError } = this.#parts;
    const begun = Promise.withResolvers<void>();
    let hasBegun = false;
    const begin = (): void => {
      hasBegun = true;
      begun.resolve();
    };
    const work = new SweepWork({
      hub,
      plan,
      parallel: 1,
      listener: (told) => {
        if (told.type === 'update') training.take(sweepRunId(plan.sweep, told.index), told.update);
        // The first update of a run is its record.
        if (told.type !== 'begun') begin();
      },
    });
    void this.#own.begin(plan.sweep.id, work, (error) => (hasBegun ? onError(error) : begun.reject(error))).then(begin);
    await begun.promise;
  }
}
