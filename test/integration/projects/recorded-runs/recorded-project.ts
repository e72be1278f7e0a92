import { createSplits, type LayersModel, z } from 'tutti-ensembles';
import { createNetwork } from '../../../unit/whole-runs/networks.ts';
import { families, readFamily, type RecordedRun } from '../../../unit/whole-runs/recorded-runs.ts';

/** The name of the recorded run. */
export const hyperparameters = z.object({ family: z.enum(families), run: z.string() });
type Hyperparameters = z.output<typeof hyperparameters>;

export function recordedRun({ family, run: name }: Hyperparameters): RecordedRun {
  const run = readFamily(family).find((other) => other.name === name);
  if (run === undefined) throw new Error(`No run "${name}" is recorded of ${family}.`);
  return run;
}

/** Data and initial weights of a recorded run. */
export const recordedParts = {
  data({ hyperparameters: of }: { hyperparameters: Hyperparameters }) {
    const { data: train, unlabelled } = recordedRun(of);
    return createSplits({ train, unlabelled });
  },
  model({ hyperparameters: of, rank }: { hyperparameters: Hyperparameters; rank: number }): LayersModel {
    const { network, initial } = recordedRun(of);
    return createNetwork(network, initial[rank]);
  },
};
