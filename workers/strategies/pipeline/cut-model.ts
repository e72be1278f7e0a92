import { z } from 'zod';
import {
  balanceStages,
  mostInFlight,
  pipelinePlace,
  type StageCost,
  sumOfUnits,
} from '../../../core/pipeline/schedule.ts';
import type { RunConfig, StrategyConfig } from '../../../core/protocol/run/config.ts';
import { stagesOf } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import type { ProcessGroup } from '../../collectives/process-group.ts';
import { layerNames, releaseWeights, weightPlaces } from '../../member/weights.ts';
import { layersOfUnit, trainedOf, type Unit, unitsOf, untrainedOf } from '../../segments/model-units.ts';
import { type LayersModel, type Tensor, tf } from '../../tensorflow/tf.ts';
import type { ModelStage, StageSummary } from './stage-passes.ts';
import { ForwardPass } from '../../member/forward-pass.ts';
import { createOptimizer } from '../../optimizers/optimizers.ts';
import { slotStorageOf } from '../../optimizers/slots/bfloat16-slots.ts';
import { Generator, withSeededMathRandom } from '../../random/index.ts';
import { runCalls, type Values } from '../../segments/run-calls.ts';
import { graphOf } from '../../tensorflow/model-graph.ts';
import { holdTensors } from '../../tensorflow/tensor-values.ts';

type PipelineConfig = Extract<StrategyConfig, { kind: 'pipeline' }>;

/** What the state of a rank keeps of the cuts: a resumed run has the same stages, although times differ. */
export const cutsSchema = z.looseObject({ strategy: z.looseObject({ starts: z.array(z.int().min(0)) }) });

/**
 * Cuts a model into one stage for each of its ranks, and frees the weights of the others' layers. Every rank calls it
 * with a model of the same layers.
 *
 * @param saved first units of the stages of an earlier attempt; null: as configured or, on the first rank, measured
 * @throws Error for a model with fewer places to cut than the ranks need
 */
export async function cutModel(
  model: LayersModel,
  config: RunConfig & { strategy: PipelineConfig },
  group: ProcessGroup,
  saved: readonly number[] | null,
): Promise<ModelStage> {
  const units = unitsOf(model);
  const { stage, ofMember: ranks } = pipelinePlace(group.rank, group.worldSize, stagesOf(config));
  requireUnits(model, units, ranks.length);
  const starts = saved ?? (await chooseStarts(model, units, config, group));
  const ofStage = (index: number): readonly Unit[] => units.slice(starts[index], starts[index + 1] ?? units.length);
  const places = weightPlaces(model);
  const names = layerNames(model);
  const all = starts.map((start, index): StageSummary => {
    const calls = ofStage(index).flatMap((unit) => unit.calls);
    const layers = new Set(calls.map(({ layer }) => layer));
    const weights = places.flatMap((ofLayer, layer) => (layers.has(layer) ? ofLayer : []));
    return { start, layers: [names[calls[0].layer], names[calls[calls.length - 1].layer]], weights };
  });
  const own = ofStage(stage);
  const held = new Set(own.flatMap((unit) => layersOfUnit(model, unit)));
  releaseWeights(
    model,
    model.layers.filter((layer) => !held.has(layer)),
  );
  return { stage, ranks, units: own, all };
}

/**
 * The first unit of each stage, the same for all members: given by names of layers, or balanced by what the first rank
 * measures.
 */
async function chooseStarts(
  model: LayersModel,
  units: readonly Unit[],
  config: RunConfig & { strategy: PipelineConfig },
  group: ProcessGroup,
): Promise<number[]> {
  const { cuts } = config.strategy;
  const stages = stagesOf(config);
  if (cuts.length > 0) return givenStarts(model, units, cuts, stages);
  const starts = new Int32Array(stages);
  if (group.rank === group.ranks[0]) {
    const samples = Math.ceil(config.batchSize / config.strategy.microBatches);
    const costs = await measureUnits(model, units, samples, config);
    starts.set(balanceStages(units.length, stages, costOf(costs, config, stages)));
  }
  return [...(await group.broadcast(starts, group.ranks[0]))];
}

/** The cost of a stage: its time, or the most memory that it needs with the micro-batches in flight. */
function costOf(
  costs: readonly UnitCost[],
  { strategy, activationCheckpointing }: RunConfig & { strategy: PipelineConfig },
  stages: number,
): StageCost {
  if (strategy.balance === 'time') return sumOfUnits(costs.map(({ timeMs }) => timeMs));
  const weights = sumOfUnits(costs.map(({ weightBytes }) => weightBytes));
  const activations = sumOfUnits(costs.map(({ activationBytes }) => activationBytes));
  const inputs = sumOfUnits(costs.map(({ inputBytes }) => inputBytes));
  return (start, end, stage) => {
    const inFlight = mostInFlight(strategy.schedule, stages, stage, strategy.microBatches);
    const own = weights(start, end, stage);
    if (activationCheckpointing === 'none') return own + inFlight * activations(start, end, stage);
    // Each micro-batch in flight keeps the inputs of segments, and one at a time the activations of a segment.
    const segments = activationCheckpointing === 'layers' ? end - start : Math.round(Math.sqrt(end - start));
    const kept = (inputs(start, end, stage) * segments) / (end - start);
    return own + inFlight * kept + activations(start, end, stage) / segments;
  };
}

function givenStarts(model: LayersModel, units: readonly Unit[], cuts: readonly string[], stages: number): number[] {
  const names = layerNames(model);
  const firsts = units.map(({ calls }) => names[calls[0].layer]);
  if (cuts.length !== stages - 1) {
    throw new Error(
      `strategy.cuts names ${cuts.length} layer(s), and ${stages} ranks need ${stages - 1}: the first layer of ` +
        'each rank but the first.',
    );
  }
  const starts = [0, ...cuts.map((cut) => firsts.indexOf(cut))];
  cuts.forEach((cut, i) => {
    if (starts[i + 1] > starts[i]) return;
    const found =
      starts[i + 1] <= 0 ? 'is no layer where the model can be cut' : 'does not come after the one before it';
    throw new Error(`strategy.cuts: "${cut}" ${found}. Name layers of ${firsts.slice(1).join(', ')}, in this order.`);
  });
  return starts;
}

function requireUnits(model: LayersModel, units: readonly Unit[], stages: number): void {
  if (units.length >= stages) return;
  throw new Error(
    `The model of ${model.layers.length} layers has ${units.length} part(s) that can be separated, and ${stages} ` +
      'ranks need as many. It can be cut where one value passes from layer to layer, and nowhere after a layer that ' +
      'makes masks. Use fewer members.',
  );
}

/** What a unit of a model costs a rank. */
interface UnitCost {
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

/**
 * Runs each unit forward and backward on a micro-batch of zeros, which leaves random numbers and statistics as they
 * are.
 */
async function measureUnits(
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
