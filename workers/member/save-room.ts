import { asFullDisk, type RoomOptions, whenThereIsRoom } from '../../core/node/disk-room.ts';
import type { Position, Report } from './report.ts';

export interface SaveRoomOptions {
  report: Report;
  /** Whether the run was asked to stop. */
  controls: { readonly stopReceived: boolean };
  /** The rank's present position, for events. */
  position: () => Position;
  /** Waits until the next look at the disk; default: a second. */
  pause?: RoomOptions['pause'];
}

/**
 * Lets the saves of a rank wait while the disk is full. The rank trains no further meanwhile, and the others wait for it at the next
 * rendezvous. A stop of the run ends the wait without the save.
 */
export class SaveRoom {
  readonly #options: SaveRoomOptions;

  constructor(options: SaveRoomOptions) {
    this.#options = options;
  }

  /** @returns null if the run was stopped before there was room @throws any error but that of a full disk */
  async save<T>(write: () => Promise<T>): Promise<T | null> {
    const { report, controls, position, pause } = this.#options;
    try {
      return await whenThereIsRoom(write, {
        onFull: ({ message, ...data }) => report.event('disk-full', message, position(), { ...data }),
        onRoom: () => report.event('disk-room', 'There is room on the disk again: the run continues.', position()),
        isAbandoned: () => controls.stopReceived,
        ...(pause === undefined ? {} : { pause }),
      });
    } catch (error) {
      const full = asFullDisk(error);
      if (full === null || !controls.stopReceived) throw error;
      const message = `${full.path} was not written, because the run was stopped while the disk was full. What was saved before is intact.`;
      report.event('save-skipped', message, position(), { path: full.path });
      return null;
    }
  }
}
