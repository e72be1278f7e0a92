import { type RoomOptions, whenThereIsRoom } from '../../../core/node/disk-room.ts';

/** Lets the hub's writes to a run's folder wait while the disk is full. What is to be written stays in memory meanwhile. */
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
