import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { app, Menu, nativeImage, type NativeImage, powerSaveBlocker, Tray } from 'electron';
import type { TrainingWork } from '../../hub/training-work.ts';
import type { HubService } from '../../rpc/hub-service.ts';
import type { AppWindows } from '../windows/app-windows.ts';
import { type TrainingView, type TrayActions, trayIcon, trayMenu, viewTraining } from './training-view.ts';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import { MadeOnce } from '../../../core/text/made-once.ts';

/** Progress arrives several times a second, from each rank. */
const drawEveryMs = 1_000;
/** Electron's numbers of a bar without progress, and of one without a known end. */
const noBar = -1;
const unknownBar = 2;

interface TrainingDisplayParts extends TrayParts {
  training: Pick<TrainingWork, 'count' | 'runs' | 'subscribe'>;
  queue: HubService['queue'];
  windows: AppWindows;
}

/**
 * Shows outside of the windows how far training is: on the taskbar or dock, and in a tray icon while no window is open,
 * also while runs only wait. Keeps the system from sleeping meanwhile; the screen may.
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

/** Width of the icon, in device-independent pixels; drawn for displays of both densities. */
const iconWidth = 22;
/** The ring has so many steps, so that the icon is drawn at most that often. */
const ringSteps = 24;

interface TrayParts extends TrayActions {
  onError: (error: unknown) => void;
}

/** The icon beside the clock that says how far training is. */
class TrainingTray {
  readonly #actions: TrayParts;
  #tray: Tray | null = null;
  #wanted: TrainingView | null = null;
  #step: number | null = null;
  /** Icons are drawn one after the other. */
  #drawing: Promise<void> = Promise.resolve();

  constructor(actions: TrayParts) {
    this.#actions = actions;
  }

  /** @param view null: no icon */
  show(view: TrainingView | null): void {
    this.#wanted = view;
    if (view === null) this.#remove();
    else this.#drawing = this.#drawing.then(() => this.#update()).catch(this.#actions.onError);
  }

  async #update(): Promise<void> {
    const share = this.#wanted?.bar?.share;
    const step = typeof share === 'number' ? Math.floor(share * ringSteps) : -1;
    const icon = this.#tray === null || step !== this.#step ? await iconOf(step < 0 ? null : step / ringSteps) : null;
    const view = this.#wanted;
    // A window may have come back meanwhile.
    if (view === null) return;
    this.#step = step;
    if (this.#tray === null) this.#tray = this.#create(icon ?? nativeImage.createEmpty());
    else if (icon !== null) this.#tray.setImage(icon);
    this.#tray.setToolTip(view.summary);
    this.#tray.setContextMenu(Menu.buildFromTemplate(trayMenu(view, this.#actions)));
  }

  #create(icon: NativeImage): Tray {
    const tray = new Tray(icon);
    tray.on('click', () => this.#actions.showRun(null));
    return tray;
  }

  #remove(): void {
    this.#tray?.destroy();
    this.#tray = null;
  }
}

async function iconOf(share: number | null): Promise<NativeImage> {
  const svg = trayIcon(share);
  const icon = nativeImage.createEmpty();
  for (const scaleFactor of [1, 2]) {
    const buffer = await renderSvg(svg, iconWidth * scaleFactor);
    icon.addRepresentation({ scaleFactor, buffer: Buffer.from(buffer) });
  }
  return icon;
}

const starting = new MadeOnce<void>();

/** A picture as PNG. The first one takes some tens of milliseconds more. @param width in pixels */
async function renderSvg(svg: string, width: number): Promise<Uint8Array> {
  await starting.get(async () => {
    await initWasm(await readFile(createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm')));
  });
  const drawn = new Resvg(svg, { fitTo: { mode: 'width', value: width } });
  const image = drawn.render();
  const png = image.asPng();
  // Not in a `finally`: after a failed render both are locked, and freeing them would throw another error.
  image.free();
  drawn.free();
  return png;
}
