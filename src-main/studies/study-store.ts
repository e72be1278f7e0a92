import { open, rm, stat } from 'node:fs/promises';
import { appendLines } from '../../core/node/append-lines.ts';
import { explainFileError, unlessMissing } from '../../core/node/file-error.ts';
import { readPortions } from '../../core/node/read-lines.ts';
import type { Study } from '../../core/protocol/studies/study.ts';
import { type StudyLine, studyLineSchema } from '../../core/protocol/studies/study-line.ts';
import { StudyLog } from '../../core/protocol/studies/study-log.ts';
import { toJson } from '../../core/protocol/wire/numbers.ts';
import { withRunLock } from '../store/runs/hub-lock.ts';
import { createStudyFolder, readStudy, studyPaths } from './study-folder.ts';

/** A suggestion of a Gaussian process takes a second, and other processes may wait for the same. */
const lockWaitMs = 120_000;

/** A line to append; the time is added. */
export type NewLine = StudyLine extends infer Line
  ? Line extends { time: string }
    ? Omit<Line, 'time'>
    : never
  : never;

/** A study on the disk: what it searches, and its log as far as it was read. Several processes may write it. */
export class StudyStore {
  readonly folder: string;
  readonly study: Study;
  readonly log = new StudyLog();
  /** Damaged lines that were skipped. */
  readonly warnings: string[] = [];
  readonly #path: string;
  /** Bytes that were read. */
  #bytes = 0;
  #lines = 0;
  #reading: Promise<void> = Promise.resolve();

  private constructor(folder: string, study: Study) {
    this.folder = folder;
    this.study = study;
    this.#path = studyPaths(folder).trials;
  }

  static async open(folder: string): Promise<StudyStore> {
    const store = new StudyStore(folder, await readStudy(folder));
    await store.refresh();
    return store;
  }

  /**
   * Creates a study with its first lines, as a whole or not at all.
   * @throws Error if its files cannot be written, or a line does not follow the format or on those before
   */
  static async create(study: Study, lines: readonly NewLine[]): Promise<StudyStore> {
    const folder = await createStudyFolder(study);
    try {
      const store = await StudyStore.open(folder);
      await store.append(lines);
      if (store.warnings.length > 0) throw new Error(`The study cannot begin so. ${store.warnings[0]}`);
      return store;
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Bytes of the log that were read: equal bytes mean an equal log. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Reads what was written since the last reading. */
  refresh(): Promise<void> {
    // One reading after the other, so that each line is taken once. The caller of a failed one gets its error.
    const reading = this.#reading.then(() => this.#readNew());
    this.#reading = reading.catch(() => undefined);
    return reading;
  }

  /** Appends lines. Each is on the disk when it resolves. */
  async append(lines: readonly NewLine[]): Promise<void> {
    await this.decide(() => ({ lines, value: undefined }));
  }

  /**
   * Lets `choose` look at the whole log while no other process writes to it, and appends the lines that it returns.
   * @returns what `choose` returns as `value`
   */
  decide<T>(choose: (log: StudyLog) => { lines: readonly NewLine[]; value: T }): Promise<T> {
    return withRunLock(
      this.folder,
      async () => {
        await this.refresh();
        const { lines, value } = choose(this.log);
        if (lines.length > 0) {
          const time = new Date().toISOString();
          await appendLines(
            this.#path,
            lines.map((line) => toJson({ ...line, time })),
            { durable: true },
          );
          await this.refresh();
        }
        return value;
      },
      lockWaitMs,
    );
  }

  async #readNew(): Promise<void> {
    try {
      const size = (await unlessMissing(stat(this.#path)))?.size ?? 0;
      if (size <= this.#bytes) return;
      const handle = await open(this.#path);
      try {
        for await (const { lines, to } of readPortions(handle, this.#bytes)) {
          for (const line of lines) this.#take(line);
          this.#bytes = to;
        }
      } finally {
        await handle.close();
      }
    } catch (error) {
      throw explainFileError(error, this.#path, 'read');
    }
  }

  #take(text: string): void {
    this.#lines++;
    const problem = this.#problemOf(text);
    if (problem !== null) this.warnings.push(`${this.#path}, line ${this.#lines}, was skipped: ${problem}.`);
  }

  #problemOf(text: string): string | null {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return 'it is not whole';
    }
    const parsed = studyLineSchema.safeParse(value);
    if (!parsed.success) return `it does not follow the format (${parsed.error.issues[0].message})`;
    return this.log.take(parsed.data) ? null : 'it does not follow on the lines before';
  }
}
