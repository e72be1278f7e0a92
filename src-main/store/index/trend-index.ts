import type { DatabaseSync } from 'node:sqlite';

/** The course of the monitored metric of each run that has ended, so that a list need not read its metrics again. */
export class TrendIndex {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** @param stamp changes whenever the run has trained more */
  get(folder: string, stamp: string): Float64Array | null {
    const row = this.#database.prepare('SELECT points FROM trends WHERE folder = ? AND stamp = ?').get(folder, stamp);
    if (!(row?.points instanceof Uint8Array)) return null;
    return new Float64Array(row.points.slice().buffer);
  }

  put(folder: string, stamp: string, points: Float64Array): void {
    this.#database
      .prepare(
        `INSERT INTO trends (folder, stamp, points) VALUES (:folder, :stamp, :points)
        ON CONFLICT (folder) DO UPDATE SET stamp = excluded.stamp, points = excluded.points`,
      )
      .run({ folder, stamp, points: new Uint8Array(points.buffer) });
  }
}
