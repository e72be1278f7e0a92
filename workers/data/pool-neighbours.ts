/** Points whose places on a map are known. */
interface Landmarks {
  /** Their coordinates, shape `[n, k]`. */
  places: Float64Array;
  /** Where they lie on the map, shape `[n, 2]`. */
  arranged: Float64Array;
}

/**
 * Places points on a map: each in the mean of its nearest landmarks, weighted by 1 / distance; on a landmark where it
 * has the landmark's coordinates.
 * @param points shape `[N, k]`
 * @param width k
 * @param count nearest landmarks that count
 * @returns shape `[N, 2]`
 */
export function placeByNeighbours(
  points: Float64Array,
  landmarks: Landmarks,
  width: number,
  count: number,
): Float32Array<ArrayBuffer> {
  const size = width === 0 ? landmarks.arranged.length / 2 : points.length / width;
  const placed = new Float32Array(2 * size);
  const nearest = new Nearest(Math.min(count, landmarks.arranged.length / 2));
  for (let point = 0; point < size; point++) {
    nearest.clear();
    for (let mark = 0; mark < landmarks.arranged.length / 2; mark++) {
      const bound = nearest.furthest;
      let square = 0;
      for (let at = 0; at < width && square < bound; at++) {
        const difference = points[point * width + at] - landmarks.places[mark * width + at];
        square += difference * difference;
      }
      if (square < bound) nearest.add(mark, square);
    }
    placed.set(nearest.meanOf(landmarks.arranged), 2 * point);
  }
  return placed;
}

/** The nearest landmarks of a point so far, by rising distance. */
class Nearest {
  readonly #most: number;
  readonly #marks: number[] = [];
  readonly #squares: number[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** A further landmark counts if the square of its distance is smaller. */
  get furthest(): number {
    return this.#marks.length < this.#most ? Infinity : this.#squares[this.#squares.length - 1];
  }

  clear(): void {
    this.#marks.length = 0;
    this.#squares.length = 0;
  }

  add(mark: number, square: number): void {
    if (this.#marks.length === this.#most) {
      this.#marks.pop();
      this.#squares.pop();
    }
    let place = this.#marks.length;
    while (place > 0 && this.#squares[place - 1] > square) place--;
    this.#marks.splice(place, 0, mark);
    this.#squares.splice(place, 0, square);
  }

  meanOf(arranged: Float64Array): [number, number] {
    let [x, y, total] = [0, 0, 0];
    for (const [at, mark] of this.#marks.entries()) {
      if (this.#squares[at] === 0) return [arranged[2 * mark], arranged[2 * mark + 1]];
      const weight = 1 / Math.sqrt(this.#squares[at]);
      x += weight * arranged[2 * mark];
      y += weight * arranged[2 * mark + 1];
      total += weight;
    }
    return [x / total, y / total];
  }
}
