import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { createDataset, type Dataset } from '../../../workers/data/dataset.ts';
import { readGolden } from '../../golden/read-golden.ts';
import type { NetworkName } from './networks.ts';

/** The recorded runs that each strategy must give, by their file. */
const familyOf = {
  independent: 'independent',
  joint: 'joint',
  coupled: 'coupled',
  'data-parallel': 'data-parallel',
  sharded: 'data-parallel',
  // A member in parts, which only separate processes train: test/integration/whole-runs.test.ts.
  pipeline: 'independent',
  hdet: 'hdet',
} as const satisfies Record<NonNullable<RunConfigInput['strategy']>['kind'], string>;

export type Family = (typeof familyOf)[keyof typeof familyOf];
export const families: readonly Family[] = [...new Set(Object.values(familyOf))];

/**
 * A run of PyTorch as recorded by `generator/generate.py`. Values common to all ranks are recorded for the first only.
 */
export interface RecordedRun {
  name: string;
  config: RunConfigInput & { members: number; maxSteps: number };
  network: NetworkName;
  /** When the loss of `heads` fixes the variance, and then depends on only half of the weights. */
  hold: { untilStep: number; partialBatches: boolean };
  data: Dataset;
  unlabelled?: Dataset;
  /** Initial weights of each rank, layer by layer in the order of `layerNames`. */
  initial: number[][];
  /** Per rank and step. */
  losses: number[][];
  /** Per rank, after the given number of steps. */
  weights: Map<number, number[][]>;
  /** The evaluated and saved weights by rank, common ones once; null if they are the last weights. */
  assembled: number[][] | null;
  /** The largest distance of PyTorch's float32 from these numbers. */
  float32: { loss: number; weight: number };
}

interface File {
  datasets: Record<string, { shape: number[]; features: number[]; targets: number[] }>;
  cases: (RunConfigInput & {
    name: string;
    network: NetworkName;
    samples: number;
    hold?: RecordedRun['hold'];
    recordedSteps: number[];
    initial: number[][];
    losses: number[][];
    weights: Record<string, number[][]>;
    assembled: number[][] | null;
    float32: RecordedRun['float32'];
  })[];
}

const dataOf = {
  mlp: 'plane',
  penalised: 'plane',
  normalized: 'plane',
  convolutional: 'images',
  heads: 'curve',
} as const;

export function readFamily(family: Family): RecordedRun[] {
  const file = readGolden(`whole-runs/recorded/${family}.json`) as File;
  return file.cases.map((recorded) => {
    const {
      name,
      network,
      samples,
      hold,
      recordedSteps: _,
      initial,
      losses,
      weights,
      assembled,
      float32,
      ...config
    } = recorded;
    return {
      name,
      config: config as RecordedRun['config'],
      network,
      hold: hold ?? { untilStep: 0, partialBatches: false },
      data: datasetOf(file, dataOf[network], samples),
      unlabelled: family === 'coupled' ? datasetOf(file, 'unlabelled') : undefined,
      initial,
      losses,
      weights: new Map(Object.entries(weights).map(([step, ranks]) => [Number(step), ranks])),
      assembled,
      float32,
    };
  });
}

/** The first samples of a recorded data set. */
function datasetOf({ datasets }: File, name: string, samples?: number): Dataset {
  const { shape, features, targets } = datasets[name];
  const length = samples ?? targets.length;
  const width = features.length / targets.length;
  const kept = targets.slice(0, length);
  const isRegression = name === 'curve';
  return createDataset({
    name,
    featureShape: shape,
    features: Float32Array.from(features.slice(0, length * width)),
    targets: isRegression ? Float32Array.from(kept) : Int32Array.from(kept),
    classCount: isRegression ? undefined : 3,
  });
}

/** The recorded values of a rank. */
export const ofRank = <T>(ranks: readonly T[], rank: number): T => ranks[ranks.length === 1 ? 0 : rank];
