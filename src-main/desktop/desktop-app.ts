import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { app, dialog, Notification } from 'electron';
import { messageOf } from '../../core/text/errors.ts';
import { endedIds, noticeOfEnd, type WindowCommand } from '../../core/protocol/pages/window.ts';
import type { HubService } from '../rpc/hub-service.ts';
import type { AppMenu } from './app-menu.ts';
import type { BrowserAccess } from './browser-access.ts';
import { homePaths } from '../store/home.ts';
import { noticeOfWork } from './training/training-view.ts';
import { TrainingDisplay } from './training/training-display.ts';
import {
  readRecentDocuments,
  type RecentDocuments,
  shownDocument,
  type UpdateItems,
  withRecent,
  writeRecentDocuments,
} from './menu.ts';
import { readUpdateSettings, type Updater, Updates, type UpdatesParts, writeUpdateSettings } from './updates.ts';
import type { AppWindow } from './windows/app-window.ts';
import type { AppWindows } from './windows/app-windows.ts';

const hourMs = 3_600_000;

interface DesktopOptions {
  service: HubService;
  windows: AppWindows;
  menu: AppMenu;
  browsers: BrowserAccess;
  /** Called for errors outside of awaited calls. */
  onError: (error: unknown) => void;
}

/**
 * The desktop app around the hub: its windows, its menu, and what it shows of training outside of them. It can train
 * without a window.
 */
export class DesktopApp {
  readonly #options: DesktopOptions;
  readonly #notices: Notices;
  readonly #display: TrainingDisplay;
  readonly #ends: (() => void)[];
  #updates: Updates | null = null;
  /** Runs are noted one after the other. */
  #noting: Promise<void> = Promise.resolve();

  private constructor(options: DesktopOptions, notices: Notices, showRun: (id: string | null) => void) {
    const { service, windows, onError } = options;
    this.#options = options;
    this.#notices = notices;
    this.#display = new TrainingDisplay({
      training: service.training,
      queue: service.queue,
      windows,
      showRun,
      quit: () => app.quit(),
      onError,
    });
    this.#ends = [
      service.projects.subscribe((folders) => this.#projectsChanged(folders)),
      windows.onAddress((address) => this.#showed(address)),
    ];
  }

  static async open(options: DesktopOptions): Promise<DesktopApp> {
    const { service, windows, menu, browsers, onError } = options;
    const showRun = (id: string | null): void => {
      const command = id === null ? null : ({ name: 'show-run', id } as const);
      desktop.#showPage(command).catch(onError);
    };
    const notices = await Notices.open({ runs: service.runs, showRun, onError });
    const desktop = new DesktopApp(options, notices, showRun);
    menu.update({
      recentFolders: await service.projects.remembered(),
      recentDocuments: await readRecentDocuments(homePaths().recentDocuments),
      openInBrowser: () => void browsers.open(windows.front?.address ?? '').catch(onError),
    });
    await desktop.#lookForUpdates();
    return desktop;
  }

  /** The window in front; null without a window. */
  get front(): AppWindow | null {
    return this.#options.windows.front;
  }

  /**
   * Brings the front window to the front, or opens those that were open last. If a path is given, the window shows the
   * project, the run or the exported run there.
   */
  show(path: string | null = null): Promise<void> {
    return this.#showPage(path === null ? null : { name: 'open', path });
  }

  /** Called before all windows close because the app quits. */
  keepWindows(): void {
    this.#options.windows.keep();
  }

  /** Called once all windows are closed. The app quits unless something trains, or waits for it to train. */
  async windowsClosed(): Promise<void> {
    if (process.platform === 'darwin') return;
    const { training, queue } = this.#options.service;
    if (this.#hasWork) {
      const { title, body } = noticeOfWork(training.count, queue.waiting);
      this.#notices.show(title, body, null);
      await this.#workEnded();
    }
    if (this.front === null && !this.#hasWork) app.quit();
  }

  get #hasWork(): boolean {
    const { training, queue } = this.#options.service;
    return training.count + queue.waiting > 0;
  }

  /** Resolves once nothing trains or waits. */
  async #workEnded(): Promise<void> {
    const { training, queue } = this.#options.service;
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (!this.#hasWork) resolve();
    };
    const ends = [training.subscribe(look), queue.subscribe(look)];
    await promise;
    for (const end of ends) end();
  }

  /** Closes everything that outlives the windows. */
  async close(): Promise<void> {
    for (const end of this.#ends) end();
    await this.#noting;
    this.#notices.close();
    this.#display.close();
    await Promise.all([this.#options.windows.close(), this.#options.browsers.close()]);
  }

  async #showPage(command: WindowCommand | null): Promise<void> {
    const window = this.#options.windows.show();
    if (command === null) await window.loaded();
    else await window.send(command);
  }

  /** A run or a file of data is a recent document once its page was shown. */
  #showed(address: string): void {
    const shown = shownDocument(address);
    if (shown === null) return;
    this.#noting = this.#noting
      .then(() => ('run' in shown ? this.#noteRun(shown.run) : this.#noteDocument(ofData(shown.data))))
      .catch(this.#options.onError);
  }

  async #noteRun(id: string): Promise<void> {
    const [run] = (await this.#options.service.runs.page({ ids: [id] })).rows;
    if (run !== undefined) await this.#noteDocument({ path: run.folder, name: run.name });
  }

  async #noteDocument(document: RecentDocuments[number]): Promise<void> {
    const path = homePaths().recentDocuments;
    const recent = await readRecentDocuments(path);
    if (recent[0]?.path === document.path) return;
    app.addRecentDocument(document.path);
    const recentDocuments = withRecent(recent, document);
    await writeRecentDocuments(path, recentDocuments);
    this.#options.menu.update({ recentDocuments });
  }

  /**
   * Looks for updates at the start, every hour, and when work has begun or ended; nothing where the package has no
   * address for them.
   */
  async #lookForUpdates(): Promise<void> {
    const { service, menu, onError } = this.#options;
    const show = (): void =>
      menu.update({ updates: this.#updates === null ? null : updateItems(this.#updates, onError) });
    this.#updates = await openUpdates({
      work: () => service.training.count + service.queue.waiting,
      changed: show,
      ready: (version) =>
        this.#notices.show(`Tutti ${version} is ready`, 'Install it with the menu Help. Tutti restarts then.', null),
      onError,
    });
    const updates = this.#updates;
    if (updates === null) return;
    show();
    const look = (): void => void updates.look();
    const timer = setInterval(look, hourMs).unref();
    let work = 0;
    this.#ends.push(
      () => clearInterval(timer),
      service.queue.subscribe(look),
      service.training.subscribe(() => {
        if (work !== service.training.count) look();
        work = service.training.count;
      }),
    );
    look();
  }

  #projectsChanged(folders: string[]): void {
    if (folders.length > 0) app.addRecentDocument(folders[0]);
    this.#options.menu.update({ recentFolders: folders });
  }
}

const ofData = (path: string): RecentDocuments[number] => ({ path, name: basename(path) });

function updateItems(updates: Updates, onError: (error: unknown) => void): UpdateItems {
  return {
    isEnabled: updates.isEnabled,
    readyVersion: updates.readyVersion,
    setEnabled: (isEnabled) => void updates.setEnabled(isEnabled).catch(onError),
    install: () => {
      try {
        updates.install();
      } catch (error) {
        dialog.showErrorBox('Tutti cannot be updated now', messageOf(error));
      }
    },
  };
}

/** Opens what looks for updates; null for an app that was packaged without an address for them (`TUTTI_UPDATE_URL`). */
async function openUpdates(
  parts: Pick<UpdatesParts, 'work' | 'changed' | 'ready' | 'onError'>,
): Promise<Updates | null> {
  // electron-builder writes it, with the address.
  if (!app.isPackaged || !existsSync(join(process.resourcesPath, 'app-update.yml'))) return null;
  const path = homePaths().updates;
  const settings = await readUpdateSettings(path);
  return new Updates({
    ...parts,
    updater: await openUpdater(),
    settings,
    save: (changed) => writeUpdateSettings(path, changed),
  });
}

async function openUpdater(): Promise<Updater> {
  const { default: updater } = await import('electron-updater');
  const { autoUpdater, CancellationToken } = updater;
  autoUpdater.autoDownload = false;
  autoUpdater.autoInstallOnAppQuit = false;
  // Its errors are those of the calls below.
  autoUpdater.on('error', () => undefined);
  return {
    async check() {
      const result = await autoUpdater.checkForUpdates();
      return result?.isUpdateAvailable === true ? result.updateInfo.version : null;
    },
    async download(signal) {
      const token = new CancellationToken();
      signal.addEventListener('abort', () => token.cancel());
      await autoUpdater.downloadUpdate(token);
    },
    install: () => autoUpdater.quitAndInstall(),
  };
}

interface NoticeParts {
  runs: HubService['runs'];
  /** Shows a run in a window; null: the window alone. */
  showRun: (id: string | null) => void;
  onError: (error: unknown) => void;
}

/** The system's notifications: a run has ended, or training continues without a window. */
class Notices {
  readonly #parts: NoticeParts;
  /** Notifications that can still be clicked. Their events only arrive while they are referenced. */
  readonly #shown = new Set<Notification>();
  readonly #end: () => void;

  private constructor(parts: NoticeParts, end: () => void) {
    this.#parts = parts;
    this.#end = end;
  }

  /** Tells from now on which runs of this home end, whichever process trains them. */
  static async open(parts: NoticeParts): Promise<Notices> {
    const { runs, onError } = parts;
    let { active } = await runs.overview();
    const notices = new Notices(
      parts,
      runs.subscribe(({ overview }) => {
        if (overview === null) return;
        const ended = endedIds(active, overview.active);
        active = overview.active;
        if (ended.length > 0) notices.#tellEnds(ended).catch(onError);
      }),
    );
    return notices;
  }

  /** @param run the run to show when the notification is clicked; null for none */
  show(title: string, body: string, run: string | null): void {
    if (!Notification.isSupported()) return;
    const notification = new Notification({ title, body });
    notification.on('click', () => this.#parts.showRun(run));
    notification.on('failed', (_event, error) =>
      console.error(`The system did not show the notification "${title}"${error === '' ? '' : `: ${error}`}.`),
    );
    notification.on('close', () => this.#shown.delete(notification));
    this.#shown.add(notification);
    notification.show();
  }

  close(): void {
    this.#end();
  }

  async #tellEnds(ids: string[]): Promise<void> {
    const { rows } = await this.#parts.runs.page({ ids });
    for (const { id, title, body } of rows.map(noticeOfEnd)) this.show(title, body, id);
  }
}
