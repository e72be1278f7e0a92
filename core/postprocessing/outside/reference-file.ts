import { decodeSafetensors, encodeSafetensors, type NamedTensor } from '../../safetensors/safetensors.ts';
import type { Reference } from './distances.ts';

/**
 * A safetensors file with the tensors of each reference under its position: `0/means`, `0/whitening`, or `0/bank`,
 * `0/scale`.
 */
export function encodeReferences(references: readonly Reference[]): Uint8Array<ArrayBuffer> {
  const tensors = references.flatMap((reference, place): NamedTensor[] => {
    const tensor = (name: string, data: Float32Array<ArrayBuffer>, shape: number[]): NamedTensor => ({
      name: `${place}/${name}`,
      dtype: 'F32',
      shape,
      data,
    });
    const { size } = reference;
    if (reference.kind === 'mahalanobis') {
      const { means, whitening } = reference;
      return [tensor('means', means, [means.length / size, size]), tensor('whitening', whitening, [size, size])];
    }
    const { bank, scale } = reference;
    return [
      tensor('bank', bank, [bank.length / size, size]),
      ...(scale === null ? [] : [tensor('scale', scale, [size])]),
    ];
  });
  const [first] = references;
  return encodeSafetensors(tensors, first.kind === 'knn' ? { neighbours: String(first.neighbours) } : {});
}

/** @throws Error that says what is wrong with the file */
export function decodeReferences(bytes: Uint8Array): Reference[] {
  const { tensors, metadata } = decodeSafetensors(bytes);
  const named = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  const find = (name: string): Float32Array<ArrayBuffer> | null => {
    const tensor = named.get(name);
    return tensor?.dtype === 'F32' ? tensor.data : null;
  };
  const references: Reference[] = [];
  for (let place = 0; ; place++) {
    const [main, whitening] = [find(`${place}/means`) ?? find(`${place}/bank`), find(`${place}/whitening`)];
    if (main === null) break;
    const size = named.get(`${place}/${whitening === null ? 'bank' : 'means'}`)?.shape.at(-1) ?? 0;
    const scale = find(`${place}/scale`);
    const neighbours = Number(metadata.neighbours);
    const fits =
      whitening === null ? neighbours >= 1 && (scale?.length ?? size) === size : whitening.length === size ** 2;
    if (!(size > 0 && fits)) throw new Error(`the shapes of its tensors ${place}/... do not fit each other`);
    references.push(
      whitening === null
        ? { kind: 'knn', size, bank: main, scale, neighbours }
        : { kind: 'mahalanobis', size, means: main, whitening },
    );
  }
  if (references.length === 0) throw new Error('it has no tensors of a reference');
  return references;
}
