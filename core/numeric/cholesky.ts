/**
 * The lower factor L of a symmetric positive definite matrix, A = L Lᵀ, in row-major order; null where the matrix has
 * no such factor in doubles.
 *
 * @param matrix shape [size, size], of which the lower triangle is read
 */
export function cholesky(matrix: Float64Array, size: number): Float64Array | null {
  const factor = new Float64Array(size * size);
  for (let row = 0; row < size; row++) {
    for (let column = 0; column <= row; column++) {
      let sum = matrix[row * size + column];
      for (let inner = 0; inner < column; inner++) sum -= factor[row * size + inner] * factor[column * size + inner];
      if (column < row) factor[row * size + column] = sum / factor[column * size + column];
      else if (sum > 0) factor[row * size + row] = Math.sqrt(sum);
      else return null;
    }
  }
  return factor;
}

/** Solves L x = b in place. @param vector shape [size] */
export function solveLower(factor: Float64Array, vector: Float64Array): void {
  const size = vector.length;
  for (let row = 0; row < size; row++) {
    let sum = vector[row];
    for (let column = 0; column < row; column++) sum -= factor[row * size + column] * vector[column];
    vector[row] = sum / factor[row * size + row];
  }
}

/** Solves Lᵀ x = b in place. @param vector shape [size] */
export function solveUpper(factor: Float64Array, vector: Float64Array): void {
  const size = vector.length;
  for (let row = size - 1; row >= 0; row--) {
    const value = (vector[row] /= factor[row * size + row]);
    for (let column = 0; column < row; column++) vector[column] -= factor[row * size + column] * value;
  }
}

/** The inverse of A = L Lᵀ. @returns shape [size, size] */
export function invert(factor: Float64Array, size: number): Float64Array {
  const inverse = new Float64Array(size * size);
  for (let row = 0; row < size; row++) {
    const unit = inverse.subarray(row * size, (row + 1) * size);
    unit[row] = 1;
    solveLower(factor, unit);
    solveUpper(factor, unit);
  }
  return inverse;
}
