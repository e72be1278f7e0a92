/**
 * An array of float64 in row-major order that records how it was computed, to allow gradients: a reference for layers
 * and ops that shares no code with TensorFlow.js. Each primitive states its forward sum, and its gradient is the same
 * sum transposed.
 */
export class Value {
  readonly shape: readonly number[];
  readonly data: Float64Array;
  /** dL/d(this), filled by `gradientsOf`. */
  readonly gradient: Float64Array;
  readonly parents: readonly Value[];
  /** Adds this value's gradient, times the local derivatives, to the parents' gradients. */
  readonly pull: (gradient: Float64Array) => void;

  constructor(
    data: ArrayLike<number>,
    shape: readonly number[],
    parents: readonly Value[] = [],
    pull: Value['pull'] = () => undefined,
  ) {
    if (data.length !== sizeOf(shape)) throw new Error(`${data.length} values do not fill [${shape.join(', ')}].`);
    this.data = Float64Array.from(data);
    this.shape = shape;
    this.gradient = new Float64Array(data.length);
    this.parents = parents;
    this.pull = pull;
  }
}

/** Gradients of Σ y · dy with respect to `inputs`, in their order. Call it once per computation. */
export function gradientsOf(y: Value, dy: ArrayLike<number>, inputs: readonly Value[]): Float64Array[] {
  y.gradient.set(dy);
  for (const value of inOrder(y).toReversed()) value.pull(value.gradient);
  return inputs.map(({ gradient }) => gradient);
}

/** y and everything it was computed from, parents before children. */
function inOrder(y: Value): Value[] {
  const seen = new Set<Value>();
  const order: Value[] = [];
  const visit = (value: Value): void => {
    if (seen.has(value)) return;
    seen.add(value);
    value.parents.forEach(visit);
    order.push(value);
  };
  visit(y);
  return order;
}

/** y[o] = Σ a[i] · b[j] over the terms (o, i, j) that `visit` lists. */
export function sumOfProducts(
  a: Value,
  b: Value,
  shape: readonly number[],
  visit: (term: (o: number, i: number, j: number) => void) => void,
): Value {
  const y = new Float64Array(sizeOf(shape));
  visit((o, i, j) => (y[o] += a.data[i] * b.data[j]));
  return new Value(y, shape, [a, b], (dy) =>
    visit((o, i, j) => {
      a.gradient[i] += dy[o] * b.data[j];
      b.gradient[j] += dy[o] * a.data[i];
    }),
  );
}

/** y[o] = Σ weight · x[i] over the terms (o, i, weight) that `visit` lists. */
export function weightedSum(
  x: Value,
  shape: readonly number[],
  visit: (term: (o: number, i: number, weight: number) => void) => void,
): Value {
  const y = new Float64Array(sizeOf(shape));
  visit((o, i, weight) => (y[o] += weight * x.data[i]));
  return new Value(y, shape, [x], (dy) => visit((o, i, weight) => (x.gradient[i] += weight * dy[o])));
}

/** y[o] = x[from(o)], or `otherwise` if `from` returns null. */
export function pick(
  x: Value,
  shape: readonly number[],
  from: (o: number, index: readonly number[]) => number | null,
  otherwise = 0,
): Value {
  const sources: (number | null)[] = [];
  forEachIndex(shape, (index, o) => sources.push(from(o, index)));
  return new Value(
    sources.map((i) => (i === null ? otherwise : x.data[i])),
    shape,
    [x],
    (dy) => sources.forEach((i, o) => i !== null && (x.gradient[i] += dy[o])),
  );
}

/** y[o] = f(x[o]), with f's derivative f'(x). */
export function map(x: Value, f: (x: number) => number, derivative: (x: number) => number): Value {
  return new Value(x.data.map(f), x.shape, [x], (dy) =>
    dy.forEach((d, o) => (x.gradient[o] += d === 0 ? 0 : d * derivative(x.data[o]))),
  );
}

type Of2 = (a: number, b: number) => number;

/** y[o] = f(a[o], b[o]), with broadcasting, and f's partial derivatives. */
export function zip(a: Value, b: Value, f: Of2, byA: Of2, byB: Of2): Value {
  const shape = broadcastShape(a.shape, b.shape);
  const [ofA, ofB] = [broadcastIndices(a.shape, shape), broadcastIndices(b.shape, shape)];
  const at = (g: Of2, o: number): number => g(a.data[ofA[o]], b.data[ofB[o]]);
  return new Value(
    ofA.map((_, o) => at(f, o)),
    shape,
    [a, b],
    (dy) =>
      dy.forEach((d, o) => {
        a.gradient[ofA[o]] += d * at(byA, o);
        b.gradient[ofB[o]] += d * at(byB, o);
      }),
  );
}

function broadcastShape(a: readonly number[], b: readonly number[]): number[] {
  const rank = Math.max(a.length, b.length);
  const [of, to] = [a, b].map((shape) => [...Array<number>(rank - shape.length).fill(1), ...shape]);
  return of.map((size, axis) => (size === 1 ? to[axis] : size));
}

/** For each index of `shape`, the index in a smaller array that broadcasts to it. */
function broadcastIndices(from: readonly number[], shape: readonly number[]): number[] {
  const indices: number[] = [];
  const missing = shape.length - from.length;
  forEachIndex(shape, (index) =>
    indices.push(
      flat(
        from,
        from.map((size, axis) => (size === 1 ? 0 : index[axis + missing])),
      ),
    ),
  );
  return indices;
}

export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** The flat position of an index in row-major order. */
export function flat(shape: readonly number[], index: readonly number[]): number {
  return shape.reduce((place, size, axis) => place * size + index[axis], 0);
}

/** Visits all indices of a shape in row-major order; `index` is valid during the call. */
export function forEachIndex(shape: readonly number[], visit: (index: readonly number[], place: number) => void): void {
  const size = sizeOf(shape);
  const index = shape.map(() => 0);
  for (let place = 0; place < size; place++) {
    visit(index, place);
    for (let axis = shape.length - 1; axis >= 0 && ++index[axis] === shape[axis]; axis--) index[axis] = 0;
  }
}
