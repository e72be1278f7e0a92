import { createSplits, defineProject, z } from 'tutti-ensembles';
import { createExperts, digits, loadWeights, readGolden } from '../../../unit/joint/experts.ts';

/** Ten small experts on digits, with initial weights from PyTorch, on images in file order. */
export default defineProject({
  name: 'Joint golden',
  description: 'Joint training from weights of PyTorch.',
  task: 'classification',
  hyperparameters: z.object({ goldenSeed: z.int().min(0), expertsPerMember: z.int().min(1) }),
  defaults: { batchSize: 100, maxEpochs: 10, sampler: 'sequential', logEverySteps: 1 },

  data: () => createSplits({ train: digits() }),

  model({ hyperparameters: { goldenSeed, expertsPerMember }, rank }) {
    const experts = Array.from({ length: expertsPerMember }, (_, expert) => rank * expertsPerMember + expert);
    const model = createExperts(experts);
    loadWeights(model, experts, readGolden(goldenSeed), 'initial');
    return model;
  },
});
