import { asError } from '../../../core/text/errors.ts';
import { type RoomOptions, whenThereIsRoom } from '../../../core/node/disk-room.ts';

/** The writes to a run's folder, one after the other. While the disk is full they wait. */
export class RecordWrites {
  readonly #room: RecordRoom;
  #last: Promise<void> = Promise.resolve();
  /** The first error since the last `flush`. */
  #error: Error | null = null;

  constructor(room: RecordRoom) {
    this.#room = room;
  }

  /** Whether writes wait for space on the disk. */
  get areWaiting(): boolean {
    return this.#room.isWaiting;
  }

  /** Writes after all earlier writes. `flush` throws the error of the first that failed. */
  add(write: () => Promise<void>): void {
    this.#last = this.#last.then(() => this.#room.write(write)).catch((error: unknown) => this.failed(error));
  }

  /** Writes at once, and again while the disk is full. */
  now<T>(write: () => Promise<T>): Promise<T> {
    return this.#room.write(write);
  }

  /** Lets writes that wait for space on the disk fail. */
  waitNoMore(): void {
    this.#room.abandon();
  }

  /** Keeps the error of a write, for `flush`. */
  failed(error: unknown): void {
    this.#error ??= asError(error);
  }

  /** Resolves once all writes so far have been tried. */
  async tried(): Promise<void> {
    await this.#last;
  }

  /** @throws the first write that failed since the last call */
  async flush(): Promise<void> {
    await this.#last;
    const error = this.#error;
    this.#error = null;
    if (error !== null) throw error;
  }
}

/**
 * Lets the hub's writes to a run's folder wait while the disk is full. What is to be written stays in memory meanwhile.
 */
export class RecordRoom {
  readonly #tell: (kind: 'disk-full' | 'disk-room', message: string, data: Record<string, unknown>) => void;
  readonly #pause: RoomOptions['pause'];
  #waiting = 0;
  #isAbandoned = false;

  /** @param pause waits until the next look at the disk; default: a second */
  constructor(
    tell: (kind: 'disk-full' | 'disk-room', message: string, data: Record<string, unknown>) => void,
    pause?: RoomOptions['pause'],
  ) {
    this.#tell = tell;
    this.#pause = pause;
  }

  get isWaiting(): boolean {
    return this.#waiting > 0;
  }

  /** @throws any error but that of a full disk, and that too after `abandon` */
  write<T>(action: () => Promise<T>): Promise<T> {
    return whenThereIsRoom(action, {
      onFull: ({ message, ...data }) => {
        this.#waiting += 1;
        if (this.#waiting === 1) this.#tell('disk-full', message, { ...data });
      },
      onRoom: () => {
        this.#waiting -= 1;
        if (this.#waiting === 0) this.#tell('disk-room', 'There is room on the disk again: the run continues.', {});
      },
      isAbandoned: () => this.#isAbandoned,
      ...(this.#pause === undefined ? {} : { pause: this.#pause }),
    });
  }

  /** Lets waiting writes, and all later ones that find the disk full, fail. */
  abandon(): void {
    this.#isAbandoned = true;
  }
}
