import { describe, expect, it } from 'vitest';
import { metricNamed, registry } from '../../../core/metrics/registry/index.ts';

describe('the registry of metrics', () => {
  it('has each name once for a task, and the same direction for all tasks', () => {
    const byTask = registry.flatMap(({ tasks, name }) => tasks.map((task) => `${task} ${name}`));
    expect(new Set(byTask).size).toBe(byTask.length);
    for (const [name, infos] of Map.groupBy(registry, (info) => info.name)) {
      expect(new Set(infos.map(({ direction }) => direction)).size, name).toBe(1);
    }
  });

  it.each([
    ['ens_nll', 'ens', 'nll'],
    ['member_12_acc', 'member', 'acc'],
    ['member_{rank}_auroc', 'member', 'auroc'],
    ['product_ece', 'product', 'ece'],
    ['ens_std', null, 'ens_std'],
    ['disagreement', null, 'disagreement'],
    ['avg_member_nll', null, 'avg_member_nll'],
    ['ens_top5_acc', 'ens', 'top5_acc'],
  ])('finds %s', (recorded, subject, name) => {
    expect(metricNamed(recorded)).toMatchObject({ subject, info: { name } });
  });

  it.each(['nll', 'ens_disagreement', 'member_nll', 'member_x_nll', 'ens_', 'own'])('has no "%s"', (name) =>
    expect(metricNamed(name)).toBeNull(),
  );
});
