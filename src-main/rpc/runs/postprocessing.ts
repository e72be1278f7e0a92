import { type Postprocessing, postprocessingPath } from '../../../core/postprocessing/schema.ts';
import type { CalibrationRequest, CalibrationResult } from '../../../core/protocol/run/checkpoint-tasks.ts';
import { calibrateRun } from '../../calibration/calibrate-run.ts';
import type { Hub } from '../../hub/hub.ts';
import type { HubParts } from '../../hub/run-feed.ts';
import { readFitted } from '../../store/runs/checkpoint-records.ts';

/** Calibrates sets of runs for pages, one at a time: the models of several could fill the memory. */
export class Calibrations {
  readonly #hub: Hub;
  readonly #closing = new AbortController();
  /** Ends when the latest calibration has ended. */
  #latest: Promise<unknown> = Promise.resolve();

  constructor(hub: Hub) {
    this.#hub = hub;
  }

  /**
   * Fits what a page asks for, and keeps it with the run.
   * @throws Error while the run trains, if a checkpoint is missing, the project is not trusted, or a method does not
   * suit the task
   */
  async calibrate(id: string, request: CalibrationRequest): Promise<CalibrationResult> {
    const { folder } = await this.#hub.find(id);
    const answer = this.#latest.then(async () => {
      this.#closing.signal.throwIfAborted();
      const record = await this.#hub.record(folder);
      if (record.status === 'running') {
        throw new Error(
          'The run still trains and may replace the checkpoints of the set. Calibrate it once it has ended.',
        );
      }
      const { postprocessing, warnings } = await calibrateRun(folder, record, request, this.#closing.signal);
      return { postprocessing, warnings };
    });
    // The page gets its own failure; the next calibration does not.
    this.#latest = answer.catch(() => undefined);
    return answer;
  }

  /** Aborts the calibration that still runs. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#latest;
  }
}

const sets = ['ensemble-best', 'member-best', 'final'] as const;

/**
 * What was fitted for the sets of a run, in this order of the sets.
 *
 * @throws Error that names the file if it is damaged
 */
export async function readPostprocessing({ hub }: Pick<HubParts, 'hub'>, id: string): Promise<Postprocessing[]> {
  const { folder } = await hub.find(id);
  const found = await Promise.all(sets.map((set) => readFitted(folder, postprocessingPath(set))));
  return found.filter((fitted) => fitted !== null);
}
