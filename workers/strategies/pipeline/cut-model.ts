import { z } from 'zod';
import { balanceStages, type StageCost, sumOfUnits } from '../../../core/pipeline/balance.ts';
import { pipelinePlace } from '../../../core/pipeline/places.ts';
import { mostInFlight } from '../../../core/pipeline/schedule.ts';
import type { RunConfig, StrategyConfig } from '../../../core/protocol/run/config.ts';
import { stagesOf } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import type { ProcessGroup } from '../../collectives/process-group.ts';
import { layerNames, releaseWeights, weightPlaces } from '../../member/weights.ts';
import { layersOfUnit, type Unit, unitsOf } from '../../segments/model-units.ts';
import type { LayersModel } from '../../tensorflow/tf.ts';
import { measureUnits, type UnitCost } from './measure-units.ts';
import type { ModelStage, StageSummary } from './model-stage.ts';

type PipelineConfig = Extract<StrategyConfig, { kind: 'pipeline' }>;

/** What the state of a rank keeps of the cuts: a resumed run has the same stages, although times differ. */
export const cutsSchema = z.looseObject({ strategy: z.looseObject({ starts: z.array(z.int().min(0)) }) });

/**
 * Cuts a model into one stage for each of its ranks, and frees the weights of the others' layers. Every rank calls it with a model of the same layers.
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

/** The first unit of each stage, the same for all members: given by names of layers, or balanced by what the first rank measures. */
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
export function costOf(
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
      `strategy.cuts names ${cuts.length} layer(s), and ${stages} ranks need ${stages - 1}: the first layer of each rank but the first.`,
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
    `The model of ${model.layers.length} layers has ${units.length} part(s) that can be separated, and ${stages} ranks need as many. It can be cut ` +
      'where one value passes from layer to layer, and nowhere after a layer that makes masks. Use fewer members.',
  );
}
