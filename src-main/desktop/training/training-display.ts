import { app, powerSaveBlocker } from 'electron';
import type { TrainingWork } from '../../hub/training-work.ts';
import type { HubService } from '../../rpc/hub-service.ts';
import type { AppWindows } from '../windows/app-windows.ts';
import { type TrainingView, viewTraining } from './training-view.ts';
import { TrainingTray, type TrayParts } from './training-tray.ts';

/** Progress arrives several times a second, from each rank. */
const drawEveryMs = 1_000;
/** Electron's numbers of a bar without progress, and of one without a known end. */
const noBar = -1;
const unknownBar = 2;

export interface TrainingDisplayParts extends TrayParts {
  training: Pick<TrainingWork, 'count' | 'runs' | 'subscribe'>;
  queue: HubService['queue'];
  windows: AppWindows;
}

/**
 * Shows outside of the windows how far training is: on the taskbar or dock, and in a tray icon while no window is open, also while runs only wait. Keeps the system from
 * sleeping meanwhile; the screen may.
 */
export class TrainingDisplay {
  readonly #parts: TrainingDisplayParts;
  readonly #tray: TrainingTray;
  readonly #ends: (() => void)[];
  #timer: NodeJS.Timeout | null = null;
  #drawnMs = -Infinity;
  #blocker: number | null = null;

  constructor(parts: TrainingDisplayParts) {
    this.#parts = parts;
    this.#tray = new TrainingTray(parts);
    this.#ends = [
      parts.training.subscribe(() => this.#changed()),
      parts.queue.subscribe(() => this.#draw()),
      parts.windows.subscribe(() => this.#draw()),
    ];
    this.#draw();
  }

  close(): void {
    for (const end of this.#ends) end();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#tray.show(null);
    this.#keepAwake(false);
  }

  #changed(): void {
    const waitMs = this.#parts.training.count === 0 ? 0 : this.#drawnMs + drawEveryMs - performance.now();
    if (waitMs <= 0) this.#draw();
    else this.#timer ??= setTimeout(() => this.#draw(), waitMs);
  }

  #draw(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#drawnMs = performance.now();
    const { training, queue, windows } = this.#parts;
    const view = viewTraining(training.runs, training.count, queue.waiting);
    this.#keepAwake(training.count > 0);
    this.#showBar(view);
    this.#tray.show(windows.all.length === 0 && training.count + queue.waiting > 0 ? view : null);
  }

  #showBar({ bar, badge }: TrainingView): void {
    const value = bar === null ? noBar : bar.share === 'unknown' ? unknownBar : bar.share;
    for (const { browser } of this.#parts.windows.all) {
      if (!browser.isDestroyed()) browser.setProgressBar(value, { mode: bar?.isPaused === true ? 'paused' : 'normal' });
    }
    app.setBadgeCount(badge);
  }

  #keepAwake(isTraining: boolean): void {
    if (isTraining) this.#blocker ??= powerSaveBlocker.start('prevent-app-suspension');
    else if (this.#blocker !== null) {
      powerSaveBlocker.stop(this.#blocker);
      this.#blocker = null;
    }
  }
}
