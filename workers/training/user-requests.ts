import type { LiveSettings } from './live-settings.ts';
import type { LossMeter } from './loss-meter.ts';
import type { RankTraining } from './rank-training.ts';

/** Does, between two steps of a rank, what the user asked of it while it trains. */
export class UserRequests {
  readonly #training: RankTraining;
  readonly #settings: LiveSettings;
  readonly #meter: LossMeter;

  constructor(training: RankTraining, settings: LiveSettings, meter: LossMeter) {
    this.#training = training;
    this.#settings = settings;
    this.#meter = meter;
  }

  async heed(): Promise<void> {
    const { parts, position, isStandingBy } = this.#training;
    this.#settings.adopt(parts.controls.settings, position);
    await this.#keepCheckpoints();
    if (parts.controls.rankStopRequested && !isStandingBy) await this.#stopAlone();
  }

  /** Checkpoints are kept meanwhile; the time is not counted as training. */
  async waitWhilePaused(): Promise<void> {
    const { controls, report } = this.#training.parts;
    if (!controls.isPaused) return;
    const startedMs = performance.now();
    report.state('paused', this.#training.position);
    while (controls.isPaused && !controls.rankStopRequested) {
      const next = controls.next();
      await this.#keepCheckpoints();
      await next;
    }
    this.#meter.leaveOut(performance.now() - startedMs);
    report.state('training', this.#training.position);
  }

  async #keepCheckpoints(): Promise<void> {
    const training = this.#training;
    for (const name of training.parts.controls.checkpointNames.splice(0)) {
      await training.saveCheckpoint(name, null, null);
    }
  }

  /** Ends this rank's training for good. */
  async #stopAlone(): Promise<void> {
    const training = this.#training;
    const name = `stopped-${training.step}`;
    training.standByAlone();
    await training.saveCheckpoint(name, null, null);
    training.announce('rank-stopped', `Stopped alone after step ${training.step}; its checkpoint "${name}" is kept.`);
    training.parts.report.state('standing-by', training.position);
  }
}
