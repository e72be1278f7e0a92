import { defineProject } from 'tutti-ensembles';
import { hyperparameters, recordedParts } from './recorded-project.ts';

/** Runs of classifiers that PyTorch recorded. */
export default defineProject({
  name: 'Recorded runs',
  description: 'Training from weights, and on data, of PyTorch.',
  task: 'classification',
  hyperparameters,
  ...recordedParts,
});
