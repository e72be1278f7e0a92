import type { Generator } from '../random/generator.ts';

/**
 * Further vectors that are iterated and dropped: the wanted ones converge at the rate of the first dropped eigenvalue.
 */
const extra = 8;
const maximumIterations = 500;

export interface Eigenvectors {
  /** Falling, shape `[k]`. */
  values: Float64Array;
  /** Unit vectors, shape `[k, n]`, row-major. */
  vectors: Float64Array;
}

/**
 * The largest eigenvalues of a positive semidefinite matrix with their vectors, by orthogonal iteration with the
 * Rayleigh-Ritz method. Source: Golub and Van Loan, "Matrix Computations", 4th edition, sections 7.3.2 and 8.3.7.
 *
 * @param matrix symmetric, shape `[n, n]`
 * @param count k
 * @param generator draws the vectors with which it starts
 * @param tolerance change of the eigenvalues in one step, as a share of the largest one, at which they count as found
 */
export function symmetricEigenvectors(
  matrix: Float64Array,
  count: number,
  generator: Generator,
  tolerance = 1e-13,
): Eigenvectors {
  const size = Math.round(Math.sqrt(matrix.length));
  const width = Math.min(size, count + extra);
  let basis = orthonormal(
    Float64Array.from({ length: width * size }, () => generator.normal()),
    size,
  );
  let values: Float64Array = new Float64Array(width);
  for (let iteration = 0; iteration < maximumIterations; iteration++) {
    const images = multiplied(matrix, basis, size);
    const { values: ritz, vectors } = smallEigenvectors(innerProducts(basis, images, size), width);
    const isFound = ritz.subarray(0, count).every((value, k) => Math.abs(value - values[k]) <= tolerance * ritz[0]);
    values = ritz;
    if (isFound && iteration > 0) {
      const found = combined(vectors, basis, size);
      return { values: values.slice(0, count), vectors: found.slice(0, count * size) };
    }
    basis = orthonormal(combined(vectors, images, size), size);
  }
  return { values: values.slice(0, count), vectors: basis.slice(0, count * size) };
}

/** Each row of the basis times the matrix. */
function multiplied(matrix: Float64Array, basis: Float64Array, size: number): Float64Array {
  const images = new Float64Array(basis.length);
  for (let start = 0; start < basis.length; start += size) {
    for (let row = 0; row < size; row++) {
      let sum = 0;
      for (let column = 0; column < size; column++) sum += matrix[row * size + column] * basis[start + column];
      images[start + row] = sum;
    }
  }
  return images;
}

/** The inner products of the rows of two lists of vectors. */
function innerProducts(left: Float64Array, right: Float64Array, size: number): Float64Array {
  const count = left.length / size;
  const products = new Float64Array(count * count);
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < count; j++) {
      let sum = 0;
      for (let at = 0; at < size; at++) sum += left[i * size + at] * right[j * size + at];
      products[i * count + j] = sum;
    }
  }
  return products;
}

/** Each row of weights times the list of vectors. */
function combined(weights: Float64Array, vectors: Float64Array, size: number): Float64Array {
  const count = vectors.length / size;
  const sums = new Float64Array(vectors.length);
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < count; j++) {
      const weight = weights[i * count + j];
      for (let at = 0; at < size; at++) sums[i * size + at] += weight * vectors[j * size + at];
    }
  }
  return sums;
}

/**
 * The rows made orthonormal in their order, by the modified Gram-Schmidt process, twice. A row that depends on those
 * before it becomes 0.
 */
function orthonormal(rows: Float64Array, size: number): Float64Array {
  for (let start = 0; start < rows.length; start += size) {
    const row = rows.subarray(start, start + size);
    const before = Math.sqrt(dot(row, row));
    for (let pass = 0; pass < 2; pass++) {
      for (let other = 0; other < start; other += size) {
        const earlier = rows.subarray(other, other + size);
        const share = dot(row, earlier);
        for (let at = 0; at < size; at++) row[at] -= share * earlier[at];
      }
    }
    const norm = Math.sqrt(dot(row, row));
    const factor = norm > 1e-12 * before ? 1 / norm : 0;
    for (let at = 0; at < size; at++) row[at] *= factor;
  }
  return rows;
}

function dot(left: Float64Array, right: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < left.length; at++) sum += left[at] * right[at];
  return sum;
}

/** All eigenvectors of a small symmetric matrix, by Jacobi's rotations. Source: Golub and Van Loan, section 8.5.2. */
function smallEigenvectors(matrix: Float64Array, size: number): Eigenvectors {
  const work = Float64Array.from(matrix);
  const rotations = new Float64Array(size * size);
  for (let i = 0; i < size; i++) rotations[i * size + i] = 1;
  const scale = work.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
  for (let sweep = 0; sweep < 60; sweep++) {
    let largest = 0;
    for (let p = 0; p < size; p++) {
      for (let q = p + 1; q < size; q++) {
        largest = Math.max(largest, Math.abs(work[p * size + q]));
        rotate(work, rotations, size, p, q);
      }
    }
    if (largest <= 1e-16 * scale) break;
  }
  const order = Array.from({ length: size }, (_, i) => i).sort((a, b) => work[b * size + b] - work[a * size + a]);
  return {
    values: Float64Array.from(order, (i) => work[i * size + i]),
    vectors: Float64Array.from(order.flatMap((i) => Array.from(rotations.subarray(i * size, (i + 1) * size)))),
  };
}

/** Makes the element (p, q) zero. The rows of `rotations` become the eigenvectors. */
function rotate(work: Float64Array, rotations: Float64Array, size: number, p: number, q: number): void {
  const off = work[p * size + q];
  if (off === 0) return;
  const theta = (work[q * size + q] - work[p * size + p]) / (2 * off);
  const tangent = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const cosine = 1 / Math.sqrt(tangent * tangent + 1);
  const sine = tangent * cosine;
  for (let i = 0; i < size; i++) {
    const [left, right] = [work[i * size + p], work[i * size + q]];
    work[i * size + p] = cosine * left - sine * right;
    work[i * size + q] = sine * left + cosine * right;
  }
  for (const table of [work, rotations]) {
    for (let i = 0; i < size; i++) {
      const [upper, lower] = [table[p * size + i], table[q * size + i]];
      table[p * size + i] = cosine * upper - sine * lower;
      table[q * size + i] = sine * upper + cosine * lower;
    }
  }
}
