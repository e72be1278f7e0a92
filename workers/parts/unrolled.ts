import type { NamedTensor } from '../../core/safetensors/safetensors.ts';
import { readWeights, writeWeights } from '../member/weights.ts';
import type { SharedWeights } from '../tensorflow/layers/inner/inner-layer.ts';
import { tf, type LayersModel, type Variable } from '../tensorflow/tf.ts';
import { modelFromTopology } from '../tensorflow/topology.ts';
import { countInnerMembers, unrolledTopology } from './unrolled-topology.ts';

/** A network of its own. */
export interface UnrolledMember {
  topology: string;
  tensors: NamedTensor[];
}

/**
 * The inner members of a network as networks of plain layers. Each predicts what the member predicts.
 * @param subject names the checkpoint, for messages
 * @throws Error where the network has no inner members, or a layer that is not registered
 */
export async function unrolledMembers(
  { topology, tensors }: UnrolledMember,
  subject: string,
): Promise<UnrolledMember[]> {
  const count = countInnerMembers(topology, subject);
  const model = await modelFromTopology(topology, subject);
  writeWeights(model, tensors, subject);
  const own = unrolledTopology(topology);
  const plain = await modelFromTopology(own, subject);
  const found: UnrolledMember[] = [];
  for (let member = 0; member < count; member++) {
    copyMember(model, plain, member);
    found.push({ topology: own, tensors: await readWeights(plain) });
  }
  model.dispose();
  plain.dispose();
  return found;
}

function copyMember(model: LayersModel, plain: LayersModel, member: number): void {
  tf.tidy(() => {
    for (const layer of model.layers.filter(({ weights }) => weights.length > 0)) {
      const values = hasSharedWeights(layer) ? layer.weightsOfMember(member) : layer.getWeights();
      const { weights } = plain.getLayer(layer.name);
      // `setWeights` would apply constraints, which hold for the shared kernel.
      weights.forEach((weight, i) => (weight.read() as Variable).assign(values[i]));
    }
  });
}

function hasSharedWeights(layer: object): layer is SharedWeights {
  return 'weightsOfMember' in layer;
}
