/**
 * A value that is made when it is first needed, once for all who ask meanwhile and later. A failure reaches all who
 * wait for it and is not kept: the next question tries again, for instance once there is room on the disk.
 */
export class MadeOnce<T> {
  #made: Promise<T> | null = null;

  /** The value if it was made, or is being made; null otherwise. */
  get made(): Promise<T> | null {
    return this.#made;
  }

  get(make: () => Promise<T>): Promise<T> {
    if (this.#made !== null) return this.#made;
    const made = make();
    this.#made = made;
    made.catch(() => {
      if (this.#made === made) this.#made = null;
    });
    return made;
  }
}
