import { configOf, type Layer, weightsOf } from '../../exchange/model-calls.ts';
import { activationFunction } from './activations.ts';
import type { ConvertToPython, PythonContext } from './context.ts';

const kinds = ['LSTM', 'GRU', 'SimpleRNN'];

/** Adds the module of a recurrent layer. */
function addRecurrent(context: PythonContext, layer: Layer, attribute: string): void {
  const config = configOf(layer);
  if (config.stateful) throw context.refuse('its option stateful');
  const kind = layer.getClassName();
  const weights = weightsOf(layer);
  const kernel = weights.get('kernel');
  const recurrent = config.recurrentActivation ?? config.activation;
  const options = [
    `"${kind}"`,
    kernel?.shape[0],
    config.units,
    weights.has('bias') ? 'True' : 'False',
    activationFunction(context.code, config.activation),
    activationFunction(context.code, recurrent),
    config.goBackwards ? 'True' : 'False',
  ];
  context.code.module(
    attribute,
    `${context.code.library('Recurrent')}(${options.join(', ')})`,
    Object.fromEntries(weights),
  );
}

const recurrent: ConvertToPython = (context) => {
  const { code, x, inputs, name, layer, config } = context;
  addRecurrent(context, layer, name);
  const mask = inputs[0].mask === undefined ? [] : [`mask=${inputs[0].mask}`];
  const states = inputs.slice(1).map((state) => state.name);
  const given = [x, ...mask, ...(states.length === 0 ? [] : [`states=[${states.join(', ')}]`])];
  const result = code.value(`self.${name}(${given.join(', ')})`);
  // TensorFlow.js returns the outputs in the order in which they were computed.
  const sequence = `${result}[0]${config.goBackwards ? '.flip(1)' : ''}`;
  const y = config.returnSequences ? sequence : `${result}[1][0]`;
  if (!config.returnState) return y;
  return [y, ...Array.from({ length: layer.getClassName() === 'LSTM' ? 2 : 1 }, (_, i) => `${result}[1][${i}]`)];
};

const bidirectional: ConvertToPython = (context) => {
  const { code, x, inputs, name, layer, config } = context;
  const own = layer as unknown as { forwardLayer: Layer; backwardLayer: Layer; returnState: boolean };
  if (inputs.length > 1 || own.returnState) throw context.refuse('its states as inputs or outputs');
  const { mask } = inputs[0];
  const both = [own.forwardLayer, own.backwardLayer].map((inner, i) => {
    if (!kinds.includes(inner.getClassName())) throw context.refuse(`its layer of kind ${inner.getClassName()}`);
    const attribute = `${name}_${i === 0 ? 'forward' : 'backward'}`;
    addRecurrent(context, inner, attribute);
    const result = code.value(`self.${attribute}(${x}${mask === undefined ? '' : `, mask=${mask}`})`);
    const { returnSequences, goBackwards } = configOf(inner);
    if (!returnSequences) return `${result}[1][0]`;
    // Outputs come as they were computed, and those of the second layer are then reversed.
    return `${result}[0]${goBackwards === (i === 1) ? '' : '.flip(1)'}`;
  });
  if (config.mergeMode === null) return both;
  if (config.mergeMode === 'concat') return `torch.cat([${both.join(', ')}], -1)`;
  if (config.mergeMode === 'ave') return `(${both.join(' + ')}) / 2`;
  return both.join(config.mergeMode === 'sum' ? ' + ' : ' * ');
};

export const recurrentLayers: Readonly<Record<string, ConvertToPython>> = {
  LSTM: recurrent,
  GRU: recurrent,
  SimpleRNN: recurrent,
  Bidirectional: bidirectional,
};
