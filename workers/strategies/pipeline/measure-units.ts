import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { ForwardPass } from '../../member/forward-pass.ts';
import { createOptimizer } from '../../optimizers/optimizers.ts';
import { slotStorageOf } from '../../optimizers/slots/bfloat16-slots.ts';
import { Generator, withSeededMathRandom } from '../../random/index.ts';
import { layersOfUnit, trainedOf, type Unit, untrainedOf } from '../../segments/model-units.ts';
import { runCalls, type Values } from '../../segments/run-calls.ts';
import { graphOf } from '../../tensorflow/model-graph.ts';
import { holdTensors } from '../../tensorflow/held-tensors.ts';
import { tf, type LayersModel, type Tensor } from '../../tensorflow/tf.ts';

/** What a unit of a model costs a rank. */
export interface UnitCost {
  /** Time of a forward and a backward pass of one micro-batch. */
  timeMs: number;
  /** Bytes of its weights, their gradients and the optimizer's slots. */
  weightBytes: number;
  /** Bytes that its forward pass of one micro-batch keeps for the backward pass. */
  activationBytes: number;
  /** Bytes of the value that enters it. */
  inputBytes: number;
}

const timedPasses = 3;
const floatBytes = 4;

/** Runs each unit forward and backward on a micro-batch of zeros, which leaves random numbers and statistics as they are. */
export async function measureUnits(
  model: LayersModel,
  units: readonly Unit[],
  samples: number,
  config: Pick<RunConfig, 'optimizer'>,
): Promise<UnitCost[]> {
  const statistics = new Map(untrainedOf(model.layers).map((variable, i) => [String(i), variable]));
  const held = holdTensors(statistics);
  const { inputs } = graphOf(model);
  const given = new Map(
    model.inputs.map(({ shape }, i) => [inputs[i], tf.zeros([samples, ...shape.slice(1).map((size) => size ?? 1)])]),
  );
  const slots = slotsPerWeight(config);
  const costs: UnitCost[] = [];
  let input: Tensor | null = null;
  for (const unit of units) {
    const measured: { cost: UnitCost; output: Tensor } = await withSeededMathRandom(new Generator(0, 'measure'), () =>
      measureUnit(model, unit, given, input, slots),
    );
    input?.dispose();
    input = measured.output;
    costs.push(measured.cost);
  }
  for (const [name, variable] of statistics) variable.assign(held.get(name) ?? variable);
  tf.dispose([...(input === null ? [] : [input]), ...held.values(), ...given.values()]);
  return costs;
}

async function measureUnit(
  model: LayersModel,
  unit: Unit,
  inputs: Values,
  input: Tensor | null,
  slots: number,
): Promise<{ cost: UnitCost; output: Tensor }> {
  const trained = trainedOf(layersOfUnit(model, unit));
  const given = new Map(inputs);
  if (unit.input !== null && input !== null) given.set(unit.input, input);
  const differentiated = [...(input === null ? [] : [input]), ...trained];
  const times: number[] = [];
  let activationBytes = 0;
  for (let pass = 0; pass <= timedPasses; pass++) {
    const startedMs = performance.now();
    const forward = new ForwardPass(differentiated, () => outputOf(model, unit, given));
    activationBytes = forward.keptBytes([...differentiated, ...inputs.values()]);
    if (differentiated.length === 0) forward.discard();
    else {
      const dy = tf.ones(forward.output.shape);
      const gradients = forward.backward(dy).filter((gradient) => gradient !== null);
      // Backends may compute later than they are asked.
      await gradients.at(0)?.data();
      tf.dispose([dy, ...gradients]);
    }
    times.push(performance.now() - startedMs);
  }
  const weights = trained.reduce((sum, { size }) => sum + size, 0);
  const fixed = untrainedOf(layersOfUnit(model, unit)).reduce((sum, { size }) => sum + size, 0);
  const cost: UnitCost = {
    // The first pass also prepares kernels and memory. Other work on the machine only adds to the others.
    timeMs: Math.min(...times.slice(1)),
    weightBytes: floatBytes * (weights * (2 + slots) + fixed),
    activationBytes,
    inputBytes: floatBytes * (input?.size ?? 0),
  };
  return { cost, output: tf.tidy(() => outputOf(model, unit, given)) };
}

function outputOf(model: LayersModel, { calls, outputs }: Unit, given: Values): Tensor {
  const value = runCalls(model, calls, given, true).get(outputs[0]);
  if (value === undefined) throw new Error(`The model's part does not compute its value ${outputs[0]}.`);
  return value;
}

/** Words of 32 bits that the optimizer keeps for each weight. */
function slotsPerWeight({ optimizer }: Pick<RunConfig, 'optimizer'>): number {
  const weight = tf.tidy(() => tf.variable(tf.zeros([8]), false));
  const { slots } = createOptimizer(optimizer, [weight], slotStorageOf(optimizer.statePrecision, 0));
  const values = [...slots.values()].reduce((sum, { size }) => sum + size, 0);
  tf.dispose([weight, ...slots.values()]);
  return values / weight.size;
}
