import { defineProject } from 'tutti-ensembles';
import { heldLoss } from '../../../unit/whole-runs/networks.ts';
import { hyperparameters, recordedParts, recordedRun } from '../recorded-runs/recorded-project.ts';

/** Recorded runs whose loss does not always depend on the head of the variance. */
export default defineProject({
  name: 'Recorded heads',
  description: 'Training from weights, and on data, of PyTorch, with a variance that is held at times.',
  task: 'heteroscedastic-regression',
  hyperparameters,
  ...recordedParts,
  loss: ({ hyperparameters: of, ...context }) => heldLoss(recordedRun(of))(context),
});
