import type { Strategy } from './strategy.ts';

/**
 * Members that train side by side and exchange nothing (Lakshminarayanan et al., 2017, "Simple and scalable predictive uncertainty
 * estimation using deep ensembles"; the published torch-distributed-ensemble): no gradient is reduced, no weight broadcast, validation and
 * test keep each rank's own weights. All-gather stays at hand for metrics.
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
