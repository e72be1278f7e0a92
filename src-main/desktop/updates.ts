import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { writeFileAtomic } from '../../core/node/atomic-file.ts';
import { unlessMissing } from '../../core/node/file-error.ts';
import { messageOf } from '../../core/text/errors.ts';

/** What is used of electron-updater. */
export interface Updater {
  /** @returns the version of an update; null if there is none */
  check(): Promise<string | null>;
  /** @param signal ends the download */
  download(signal: AbortSignal): Promise<void>;
  /** Ends the app, installs, and starts it again. */
  install(): void;
}

export interface UpdatesParts {
  updater: Updater;
  settings: UpdateSettings;
  save: (settings: UpdateSettings) => Promise<void>;
  /** What trains or waits to train in this process. */
  work: () => number;
  /** Called after a change of what {@link Updates} says. */
  changed: () => void;
  /** Called once an update can be installed. */
  ready: (version: string) => void;
  onError: (error: unknown) => void;
}

/**
 * Looks for updates once a day and downloads them, if the user wants that and only while nothing trains or waits. The
 * user installs them.
 */
export class Updates {
  readonly #parts: UpdatesParts;
  #settings: UpdateSettings;
  #phase: UpdatePhase = { name: 'none' };
  #download: AbortController | null = null;
  /** Looks run one after the other. */
  #looking: Promise<void> = Promise.resolve();

  constructor(parts: UpdatesParts) {
    this.#parts = parts;
    this.#settings = parts.settings;
  }

  get isEnabled(): boolean {
    return this.#settings.isEnabled;
  }

  /** The version that can be installed; null if there is none. */
  get readyVersion(): string | null {
    return this.#phase.name === 'ready' ? this.#phase.version : null;
  }

  /**
   * Does what is due. Called at the start, every hour, and when work begins or ends.
   * @returns a promise that resolves when it is done
   */
  look(): Promise<void> {
    if (this.#parts.work() > 0) this.#download?.abort();
    this.#looking = this.#looking.then(() => this.#look()).catch(this.#parts.onError);
    return this.#looking;
  }

  async setEnabled(isEnabled: boolean): Promise<void> {
    // Whoever turns it on wants to know now.
    await this.#keep({ isEnabled, checkedAt: isEnabled ? null : this.#settings.checkedAt });
    if (!isEnabled) this.#download?.abort();
    this.#parts.changed();
    await this.look();
  }

  /** @throws Error while something trains or waits, or where no update is ready */
  install(): void {
    const reason = whyNotInstall({ phase: this.#phase, work: this.#parts.work() });
    if (reason !== null) throw new Error(reason);
    this.#parts.updater.install();
  }

  async #look(): Promise<void> {
    for (;;) {
      const { isEnabled, checkedAt } = this.#settings;
      const checkedMs = checkedAt === null ? null : Date.parse(checkedAt);
      const step = nextUpdateStep({
        isEnabled,
        phase: this.#phase,
        checkedMs,
        nowMs: Date.now(),
        work: this.#parts.work(),
      });
      if (step === null) return;
      if (step === 'check') await this.#check();
      else if (!(await this.#downloaded())) return;
    }
  }

  async #check(): Promise<void> {
    // First, so that an address that does not answer is asked once a day too.
    await this.#keep({ ...this.#settings, checkedAt: new Date().toISOString() });
    const version = await this.#parts.updater.check();
    if (version !== null) this.#phase = { name: 'found', version };
  }

  /** @returns whether the update is ready; it is not where work began meanwhile */
  async #downloaded(): Promise<boolean> {
    if (this.#phase.name !== 'found') return false;
    const { version } = this.#phase;
    const download = new AbortController();
    this.#download = download;
    try {
      await this.#parts.updater.download(download.signal);
    } catch (error) {
      if (!download.signal.aborted) throw error;
      return false;
    } finally {
      this.#download = null;
    }
    this.#phase = { name: 'ready', version };
    this.#parts.changed();
    this.#parts.ready(version);
    return true;
  }

  async #keep(settings: UpdateSettings): Promise<void> {
    this.#settings = settings;
    await this.#parts.save(settings);
  }
}

/** How far an update is. */
type UpdatePhase = { name: 'none' } | { name: 'found' | 'ready'; version: string };

export interface UpdateSituation {
  /** Whether the user wants Tutti to look for updates. */
  isEnabled: boolean;
  phase: UpdatePhase;
  /** When Tutti looked last, in milliseconds since 1970; null: never. */
  checkedMs: number | null;
  nowMs: number;
  /** What trains or waits to train in this process. */
  work: number;
}

const dayMs = 86_400_000;

/** What to do now about updates. While anything trains or waits to train: nothing. */
export function nextUpdateStep({
  isEnabled,
  phase,
  checkedMs,
  nowMs,
  work,
}: UpdateSituation): 'check' | 'download' | null {
  if (!isEnabled || work > 0 || phase.name === 'ready') return null;
  if (phase.name === 'found') return 'download';
  // A clock that was set back must not postpone the next look for years.
  const isDue = checkedMs === null || nowMs - checkedMs >= dayMs || nowMs < checkedMs;
  return isDue ? 'check' : null;
}

/** Why an update cannot be installed now; null if it can. Installing restarts Tutti. */
export function whyNotInstall({ phase, work }: Pick<UpdateSituation, 'phase' | 'work'>): string | null {
  if (phase.name !== 'ready') return 'No update is ready.';
  if (work === 0) return null;
  const what = work === 1 ? 'A run trains or waits' : `${work} runs train or wait`;
  return `${what}, and installing Tutti ${phase.version} restarts it. Install it once they have ended.`;
}

const settingsSchema = z.strictObject({
  /** Whether Tutti looks for updates. */
  isEnabled: z.boolean(),
  /** When it looked last; null: never. */
  checkedAt: z.iso.datetime().nullable(),
});
type UpdateSettings = z.output<typeof settingsSchema>;

/** The settings of updates; off where there are none. @throws Error with the remedy if the file is damaged */
export async function readUpdateSettings(path: string): Promise<UpdateSettings> {
  const text = await unlessMissing(readFile(path, 'utf8'));
  if (text === null) return { isEnabled: false, checkedAt: null };
  try {
    return settingsSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`${path} is damaged (${messageOf(cause)}). Remove it: Tutti then looks for no updates.`, { cause });
  }
}

export async function writeUpdateSettings(path: string, settings: UpdateSettings): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(settings, null, 2)}\n`);
}
