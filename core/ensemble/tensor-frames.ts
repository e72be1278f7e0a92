import { z } from 'zod';
import type { WireArray } from '../protocol/wire/arrays.ts';
import { type Tensor, tensorInfoSchema } from './tensors.ts';

/** A tensor in a message: texts are in its JSON, numbers in the message's next array. */
const packedTensorSchema = tensorInfoSchema.extend({ texts: z.array(z.string().nullable()).nullable() });
export const packedTensorsSchema = z.array(packedTensorSchema);
type PackedTensor = z.output<typeof packedTensorSchema>;

/** Parts of a message with these tensors. */
export function packTensors(tensors: readonly Tensor[]): { packed: PackedTensor[]; arrays: WireArray[] } {
  const arrays: WireArray[] = [];
  const packed = tensors.map(({ values, ...info }): PackedTensor => {
    if (!ArrayBuffer.isView(values)) return { ...info, texts: [...values] };
    arrays.push(values as WireArray);
    return { ...info, texts: null };
  });
  return { packed, arrays };
}

/** @throws RangeError if the arrays are not those of the tensors */
export function unpackTensors(packed: readonly PackedTensor[], arrays: readonly WireArray[]): Tensor[] {
  const left = [...arrays];
  const tensors = packed.map(({ texts, ...info }): Tensor => {
    const values = texts ?? left.shift() ?? [];
    const count = info.shape.reduce((product, size) => product * size, 1);
    // No tensor of a prediction holds bfloat16.
    if (values.length === count && !(values instanceof Uint16Array)) return { ...info, values };
    throw new RangeError(
      `The tensor "${info.name}" of shape [${info.shape.join(', ')}] came with ${values.length} values.`,
    );
  });
  if (left.length > 0) throw new RangeError(`A message has ${left.length} arrays more than tensors of numbers.`);
  return tensors;
}
