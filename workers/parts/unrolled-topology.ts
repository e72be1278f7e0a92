/** A layer in the description of a functional or sequential model. */
interface Described {
  class_name: string;
  name?: string;
  config: Record<string, unknown> & { name: string };
  /** For each call of the layer, the tensors that it gets. */
  inbound_nodes?: TensorKey[][];
}

/** Layer, number of its call, number of the output. */
type TensorKey = [layer: string, call: number, output: number, ...options: unknown[]];

interface DescribedModel {
  class_name: string;
  config: { layers: Described[]; output_layers?: TensorKey[] };
}

/** Plain layers in place of layers with weights of inner members. */
const plainKinds = new Map([
  ['BatchEnsembleDense', 'Dense'],
  ['BatchEnsembleConv2D', 'Conv2D'],
  ['MimoHeads', 'Dense'],
]);

/**
 * Number of inner members of an architecture.
 * @param subject names the checkpoint, for messages
 * @throws Error where it has none
 */
export function countInnerMembers(topology: string, subject: string): number {
  const { config } = JSON.parse(topology) as DescribedModel;
  const inputs = config.layers.find(({ class_name: kind }) => kind === 'BatchEnsembleInputs' || kind === 'MimoInputs');
  if (inputs !== undefined) return inputs.config.members as number;
  throw new Error(
    `The model of ${subject} has no inner members: --method unroll makes those of batchEnsemble and mimo into ` +
      'members. Use --method swag, mc-dropout or snapshots for other models.',
  );
}

/**
 * The architecture of one inner member, of plain layers only: kernels of BatchEnsemble are dense layers and
 * convolutions, the input of MIMO is repeated for all members by `concatenate`, its heads are one dense layer, and
 * layers that repeat a batch or take a mean do nothing. Layers keep their names.
 */
export function unrolledTopology(topology: string): string {
  const model = JSON.parse(topology) as DescribedModel;
  const { config } = model;
  const layers = config.layers.flatMap((layer) => unrolled(layer));
  const means = new Set(config.layers.filter(({ class_name: kind }) => kind === 'MeanOfMembers').map(nameOf));
  const renamed = (key: TensorKey): TensorKey => {
    const [name, call, output, ...options] = key;
    return means.has(name) && output > 0 ? [nameOfOutput(name, output), call, 0, ...options] : key;
  };
  for (const layer of layers) layer.inbound_nodes &&= layer.inbound_nodes.map((keys) => keys.map(renamed));
  const outputs = config.output_layers && { output_layers: config.output_layers.map(renamed) };
  return JSON.stringify({ ...model, config: { ...config, layers, ...outputs } });
}

function unrolled(layer: Described): Described[] {
  const { members, factor_initializer: _, batch_repetitions: __, input_repetition: ___, ...config } = layer.config;
  const plain = plainKinds.get(layer.class_name);
  const nodes = layer.inbound_nodes;
  if (plain !== undefined) {
    // The heads of MIMO also get positions.
    const inbound = layer.class_name === 'MimoHeads' ? nodes?.map((keys) => keys.slice(0, 1)) : nodes;
    // Constraints hold for weights that members share.
    const free = { ...config, kernel_constraint: null, bias_constraint: null };
    return [{ ...layer, class_name: plain, config: free, ...(inbound && { inbound_nodes: inbound }) }];
  }
  switch (layer.class_name) {
    case 'BatchEnsembleInputs': {
      const { training: ____, ...rest } = config;
      return [passing({ ...layer, config: rest })];
    }
    case 'MimoInputs': {
      if (members === 1) return [passing({ ...layer, config })];
      const copies = nodes?.map(([key]) => Array.from({ length: members as number }, () => key));
      return [
        {
          ...layer,
          class_name: 'Concatenate',
          config: { ...config, axis: -1 },
          ...(copies && { inbound_nodes: copies }),
        },
      ];
    }
    case 'MeanOfMembers': {
      const { task: ____, ...rest } = config;
      if (nodes === undefined) return [passing({ ...layer, config: rest })];
      const outputs = Math.max(1, ...nodes.map((keys) => keys.length));
      return Array.from({ length: outputs }, (_____, output) => {
        const name = nameOfOutput(nameOf(layer), output);
        const inbound = nodes.map((keys) => [keys[output]]);
        return passing({ ...layer, name, config: { ...rest, name }, inbound_nodes: inbound });
      });
    }
    default:
      return [layer];
  }
}

/** A layer that returns what it gets. */
function passing(layer: Described): Described {
  return { ...layer, class_name: 'Activation', config: { ...layer.config, activation: 'linear' } };
}

const nameOf = ({ config }: Described): string => config.name;
const nameOfOutput = (name: string, output: number): string => (output === 0 ? name : `${name}_${output}`);
