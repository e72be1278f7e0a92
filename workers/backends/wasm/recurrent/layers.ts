import { tf, type Tensor } from '../../../tensorflow/tf.ts';
import { isInNestedGradient } from '../fused-layers.ts';
import { kernelNames } from './kernels.ts';
import { runSequence, type SequenceCall } from './run-sequence.ts';
import { activationCodes, type CellKind } from './sequence.ts';

interface Weight {
  read(): Tensor;
}

/** Private members of tfjs-layers' recurrent layers. */
interface RecurrentLayer {
  cell: Cell;
  goBackwards: boolean;
  returnSequences: boolean;
  returnState: boolean;
  stateful: boolean;
  call: (this: RecurrentLayer, inputs: Tensor | Tensor[], options: CallOptions) => Tensor | Tensor[];
}

interface Cell {
  kernel: Weight;
  recurrentKernel: Weight;
  bias: Weight | null;
  activation: Activation | null;
  recurrentActivation?: Activation;
  dropout: number;
  recurrentDropout: number;
}

interface Activation {
  getClassName(): string;
}

interface CallOptions {
  mask?: Tensor | Tensor[] | null;
  training?: boolean | null;
  initialState?: Tensor[] | null;
}

/**
 * Makes recurrent layers compute with the kernels of `kernels.ts`, if the backend has them. tfjs composes each step of about twenty ops, and as many for
 * the gradients: an LSTM of 16 units took 107 ms for a batch whose arithmetic takes one. tfjs still computes layers with state across
 * batches, with dropout in training, and with activations that have no kernel.
 */
export function runSequencesInLayers(): void {
  for (const kind of ['simpleRNN', 'gru', 'lstm'] as const) {
    // An explicit name: automatic names count all layers that were ever created.
    const methods = Object.getPrototypeOf(tf.layers[kind]({ units: 1, name: `${kind}-sequences` })) as RecurrentLayer;
    const { call } = methods;
    methods.call = function runOrCall(this: RecurrentLayer, inputs, options) {
      const x = Array.isArray(inputs) ? inputs[0] : inputs;
      const sequence = describeCall(this, kind, x, options);
      if (sequence === null) return call.call(this, inputs, options);
      return tf.tidy(() => outputsOf(this, runSequence(sequence)));
    };
  }
}

/** The call of the kernels, or null if they cannot compute it. */
function describeCall(layer: RecurrentLayer, kind: CellKind, x: Tensor, options: CallOptions): SequenceCall | null {
  const { cell } = layer;
  const mask = [options.mask ?? null].flat()[0] ?? null;
  const activation = codeOf(cell.activation);
  const gateActivation = kind === 'simpleRNN' ? activation : codeOf(cell.recurrentActivation ?? null);
  const isDropping = options.training === true && (cell.dropout > 0 || cell.recurrentDropout > 0);
  const hasKernel = tf.getKernel(kernelNames[kind].forward, tf.getBackend()) !== undefined && !isInNestedGradient();
  if (!hasKernel || isDropping || layer.stateful || activation === undefined || gateActivation === undefined)
    return null;
  if (x.dtype !== 'float32' || x.rank !== 3 || x.size === 0 || (mask !== null && mask.rank !== 2)) return null;
  return {
    kind,
    x,
    kernel: cell.kernel.read(),
    recurrent: cell.recurrentKernel.read(),
    bias: cell.bias?.read() ?? null,
    mask,
    initialState: options.initialState ?? [],
    activation,
    gateActivation,
    goBackwards: layer.goBackwards,
    returnSequences: layer.returnSequences,
    returnState: layer.returnState,
  };
}

function codeOf(activation: Activation | null): number | undefined {
  return activationCodes.get(activation?.getClassName() ?? 'linear');
}

function outputsOf({ returnState }: RecurrentLayer, { output, states }: ReturnType<typeof runSequence>) {
  return returnState ? [output, ...states] : output;
}
