import type { LiveSettings } from './live-settings.ts';
import type { LossMeter } from './loss-meter.ts';
import type { RankTraining } from './rank-training.ts';

/** Carries out the user's requests to a rank, between its steps. */
export class UserRequests {
  readonly #training: RankTraining;
  readonly #settings: LiveSettings;
  readonly #meter: LossMeter;

  constructor(training: RankTraining, settings: LiveSettings, meter: LossMeter) {
    this.#training = training;
    this.#settings = settings;
    this.#meter = meter;
  }

  async handle(): Promise<void> {
    const { parts, position, isStandingBy } = this.#training;
    this.#settings.adopt(parts.controls.settings, position);
    await this.#saveCheckpoints();
    if (parts.controls.rankStopRequested && !isStandingBy) await this.#stopAlone();
  }

  /** Waits while training is paused, and saves requested checkpoints. The time does not count as training. */
  async waitWhilePaused(): Promise<void> {
    const { controls, report, strategy } = this.#training.parts;
    if (!controls.isPaused) return;
    const startedMs = performance.now();
    report.state('paused', this.#training.position);
    strategy.pause?.(true);
    while (controls.isPaused && !controls.rankStopRequested && !controls.isHubGone) {
      const next = controls.next();
      await this.#saveCheckpoints();
      await next;
    }
    strategy.pause?.(false);
    this.#meter.excludePause(performance.now() - startedMs);
    report.state('training', this.#training.position);
  }

  async #saveCheckpoints(): Promise<void> {
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
    training.announce('rank-stopped', `Stopped alone after step ${training.step}; its checkpoint "${name}" was saved.`);
    training.parts.report.state('standing-by', training.position);
  }
}
