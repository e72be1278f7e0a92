import type { Strategy } from './strategy.ts';

/**
 * Members that train independently and exchange nothing (Lakshminarayanan et al., 2017, "Simple and scalable predictive
 * uncertainty estimation using deep ensembles"; the published torch-distributed-ensemble): no gradient is reduced, no
 * weight is broadcast, and each rank validates and tests its own weights.
 */
export function independentStrategy(): Strategy {
  return {
    name: 'independent',
    isLockstep: false,
    async setup() {},
    async trainStep(member, batch, settings, position) {
      const { loss, gradients } = await member.lossAndGradients(batch, position);
      const updated = Number.isFinite(loss);
      if (updated) member.applyGradients(gradients, settings);
      for (const gradient of gradients) gradient?.dispose();
      return { loss, updated };
    },
  };
}
