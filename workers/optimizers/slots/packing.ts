import {
  packBfloat16,
  packedLength,
  roundingKey,
  unpackBfloat16,
} from '../../../core/compression/stochastic-rounding.ts';
import { tf, type Tensor, type Variable } from '../../tensorflow/tf.ts';
import { ByBackend } from '../update-kernels.ts';
import { zeros } from './slot-storage.ts';

/** Stochastic rounding of tensors to packed bfloat16 in a backend's memory, and back. */
export interface StorageKernels {
  pack(values: Tensor, key: number, words: Variable): void;
  unpack(words: Tensor, shape: number[]): Variable;
}

/** Rounds arrays stochastically to bfloat16, by a backend's kernels or by arrays, with the same bits. */
export class Packing {
  readonly #seed: number;

  /** @param seed of the rounding's random numbers */
  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Zeros for values of a shape, int32 `[⌈n / 2⌉]`: zero is zero in both formats. */
  create(shape: readonly number[]): Variable {
    return zeros([packedLength(tf.util.sizeFromShape([...shape]))], 'int32');
  }

  /** words ← rounded values. @param number of the array's rounding */
  pack(name: string, number: number, values: Tensor, words: Variable): void {
    bfloat16Storage.current.pack(values, roundingKey(this.#seed, name, number), words);
  }

  /** The exact values, in a new variable. */
  unpack(words: Tensor, shape: readonly number[]): Variable {
    return bfloat16Storage.current.unpack(words, [...shape]);
  }
}

export const bfloat16Storage = new ByBackend<StorageKernels>({
  pack(values, key, words) {
    const packed = new Int32Array(words.size);
    packBfloat16(values.dataSync<'float32'>(), key, packed);
    tf.tidy(() => words.assign(tf.tensor1d(packed, 'int32')));
  },
  unpack(words, shape) {
    const values = new Float32Array(tf.util.sizeFromShape(shape));
    unpackBfloat16(words.dataSync<'int32'>(), values);
    return tf.tidy(() => tf.variable(tf.tensor(values, shape), false));
  },
});
