import { Menu, nativeImage, type NativeImage, Tray } from 'electron';
import { renderSvg } from './render-svg.ts';
import type { TrainingView } from './training-view.ts';
import { trayIcon } from './tray-icon.ts';
import { type TrayActions, trayMenu } from './tray-menu.ts';

/** Width of the icon, in device-independent pixels; drawn for displays of both densities. */
const iconWidth = 22;
/** The ring has so many steps, so that the icon is drawn at most that often. */
const ringSteps = 24;

export interface TrayParts extends TrayActions {
  onError: (error: unknown) => void;
}

/** The icon beside the clock that says how far training is. */
export class TrainingTray {
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
