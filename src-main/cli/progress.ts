import {
  countEpoch,
  formatCount,
  formatDuration as formatSeconds,
  formatMetric,
  metricLabel,
} from '../../core/text/numbers.ts';
import { improves, modeFor } from '../../core/metrics/metric-mode.ts';
import type { WorkerState } from '../../core/protocol/run/messages.ts';
import type { PointBatch } from '../../core/protocol/wire/points.ts';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import type { RunFacts, RunUpdate } from '../../core/protocol/pages/run-updates.ts';

/** Time over which steps per second are averaged: recent, but long enough for a few evaluations. */
const windowMs = 30_000;
/** A shorter time is too short for a forecast. */
const shortestWindowMs = 1_000;

interface RankProgress {
  state: WorkerState | 'exited';
  epoch: number;
  step: number;
  samplesPerSecond: number;
  /** Its latest mean training loss; null before the first. */
  loss: number | null;
}

/** Collects the data for the line of progress from the updates of a run. */
export class RunProgress {
  /** Number of evaluations of the ensemble so far. */
  evaluations = 0;
  private record: RunRecord | null = null;
  private facts: RunFacts | null = null;
  private readonly ranks = new Map<number, RankProgress>();
  private wave = 0;
  private ensemble: number | null = null;
  private best: { value: number; epoch: number } | null = null;
  /** Steps of the slowest rank over time. */
  private history: { timeMs: number; step: number }[] = [];

  take(update: RunUpdate, nowMs: number): void {
    switch (update.type) {
      case 'record':
        this.record = update.record;
        this.best ??= update.record.summary?.best ?? null;
        return;
      case 'described':
        this.facts = update.about;
        return;
      case 'worker':
      case 'progress':
        this.move(update);
        break;
      case 'points':
        this.read(update.rank, update.batch);
        break;
    }
    this.remember(nowMs);
  }

  /**
   * `epoch 12/200  step 480/8000  ens NLL 0.4123 (best 0.4101 @ 10)  1.2k samples/s  ETA 3 m 12 s`; null before
   * training.
   * @param width in characters; a line that does not fit loses the throughput first
   */
  line(width: number = Infinity): string | null {
    if (this.record === null || this.facts === null) return null;
    const { epoch, step } = this.slowest();
    const { maxEpochs } = this.record.config;
    const throughput = this.throughput();
    const parts = [
      this.waves > 1 ? `wave ${this.wave + 1}/${this.waves}` : null,
      `epoch ${Math.min(countEpoch(epoch), maxEpochs)}/${maxEpochs}`,
      `step ${step}/${this.facts.totalSteps}`,
      this.quality(this.facts.ensembleMonitor),
      throughput,
      this.forecast(this.facts.totalSteps - step),
    ].filter((part) => part !== null);
    const line = parts.join('  ');
    return line.length <= width
      ? line
      : parts
          .filter((part) => part !== throughput)
          .join('  ')
          .slice(0, width);
  }

  private move(update: RunUpdate & { type: 'worker' | 'progress' }): void {
    const { rank, epoch, step } = update;
    const before = this.rank(rank);
    const changes = update.type === 'worker' ? { state: update.state } : { samplesPerSecond: update.samplesPerSecond };
    // A worker that starts or exits does not always report its step.
    this.ranks.set(rank, {
      ...before,
      epoch: Math.max(before.epoch, epoch),
      step: Math.max(before.step, step),
      ...changes,
    });
    const wave = this.record?.plan.find((placement) => placement.rank === rank)?.wave ?? 0;
    if (wave > this.wave) {
      this.wave = wave;
      this.history = [];
    }
  }

  private read(rank: number, { names, nameIndex, value, epoch, step }: PointBatch): void {
    const monitor = this.facts?.ensembleMonitor;
    const mode = modeFor(monitor ?? '', this.record?.config.checkpoints.mode ?? 'auto');
    nameIndex.forEach((name, i) => {
      if (names[name] === `train/member_${rank}_loss`) {
        this.ranks.set(rank, { ...this.rank(rank), loss: value[i], epoch: epoch[i], step: step[i] });
      }
      if (names[name] !== monitor) return;
      this.evaluations += 1;
      this.ensemble = value[i];
      if (mode !== null && improves(value[i], this.best?.value ?? null, mode)) {
        this.best = { value: value[i], epoch: epoch[i] };
      }
    });
  }

  private remember(nowMs: number): void {
    const { step } = this.slowest();
    if (step > 0 && step !== this.history.at(-1)?.step) this.history.push({ timeMs: nowMs, step });
    this.history = this.history.filter(({ timeMs }) => nowMs - timeMs <= windowMs);
  }

  private quality(monitor: string): string | null {
    if (this.ensemble !== null) {
      const best = this.best && ` (best ${formatMetric(this.best.value)} @ ${countEpoch(this.best.epoch)})`;
      return `${metricLabel(monitor)} ${formatMetric(this.ensemble)}${best ?? ''}`;
    }
    const losses = this.active().flatMap(({ loss }) => loss ?? []);
    if (losses.length === 0) return null;
    return `loss ${formatMetric(losses.reduce((sum, loss) => sum + loss, 0) / losses.length)}`;
  }

  private throughput(): string | null {
    const samplesPerSecond = this.active().reduce((sum, rank) => sum + rank.samplesPerSecond, 0);
    return samplesPerSecond > 0 ? `${formatCount(samplesPerSecond)} samples/s` : null;
  }

  /** Later waves are assumed to take as many steps as this one. */
  private forecast(stepsOfWave: number): string | null {
    const [first] = this.history;
    const last = this.history.at(-1);
    if (last === undefined || last.timeMs - first.timeMs < shortestWindowMs) return null;
    const stepsPerMs = (last.step - first.step) / (last.timeMs - first.timeMs);
    const steps = stepsOfWave + (this.waves - 1 - this.wave) * (this.facts?.totalSteps ?? 0);
    return steps > 0 ? `ETA ${formatDuration(steps / stepsPerMs)}` : null;
  }

  private slowest(): RankProgress {
    return this.active().reduce((slowest, rank) => (rank.step < slowest.step ? rank : slowest));
  }

  /** Ranks of this wave that still train; all its ranks if none does. */
  private active(): RankProgress[] {
    const plan = this.record?.plan ?? [{ rank: 0, wave: 0 }];
    const ranks = plan.filter(({ wave }) => wave === this.wave).map(({ rank }) => this.rank(rank));
    const training = ranks.filter(({ state }) => state !== 'standing-by' && state !== 'exited');
    return training.length > 0 ? training : ranks;
  }

  private rank(rank: number): RankProgress {
    return this.ranks.get(rank) ?? { state: 'starting', epoch: 0, step: 0, samplesPerSecond: 0, loss: null };
  }

  private get waves(): number {
    return 1 + Math.max(...(this.record?.plan ?? []).map(({ wave }) => wave));
  }
}

/** A duration in its two largest units: `12 s`, `3 m 12 s`, `1 h 04 m`, `2 d 03 h`. */
export function formatDuration(durationMs: number): string {
  return formatSeconds(Math.round(durationMs / 1000), true);
}
