import { describe, expect, it } from 'vitest';
import type { SeriesRequest } from '../../../../core/protocol/pages/run-data.ts';
import { runConfigSchema } from '../../../../core/protocol/run/config.ts';
import { runSubject } from '../../../../src-renderer/views/compare/compared-subject.ts';
import { memberNamesOf, readSubjectLines } from '../../../../src-renderer/views/compare/compared-line.ts';
import {
  comparableMetrics,
  describeOtherAnswers,
  listOf,
  panelMetrics,
  withoutPlace,
} from '../../../../src-renderer/views/compare/panel-metrics.ts';
import { runRecord, runRow, runView } from '../run-fixtures.ts';

describe('the panels of a comparison', () => {
  const known = ['val/ens_nll', 'val/ens_acc', 'val/ens_ece', 'val/disagreement'];

  it('offer the metrics of ensembles that two runs share', () => {
    const a = ['val/ens_nll', 'val/member_0_nll', 'train/loss', 'val/ens_acc'];
    expect(comparableMetrics([a, ['val/ens_nll', 'val/member_0_nll', 'train/loss']])).toEqual(['val/ens_nll']);
    expect(comparableMetrics([a])).toEqual(['val/ens_nll', 'val/ens_acc']);
    // Usual metrics first, of these the ones that most runs have.
    const [b, c] = [
      ['val/disagreement', 'val/ens_ece', 'val/ens_mse', 'val/ens_nll'],
      ['val/ens_ece', 'val/disagreement', 'val/ens_nll'],
    ];
    expect(comparableMetrics([b, b, c])).toEqual(['val/ens_nll', 'val/ens_ece', 'val/ens_mse', 'val/disagreement']);
  });

  it('begin with the answer of members that answer by their product', () => {
    const joint = ['val/ens_nll', 'val/ens_acc', 'val/product_acc', 'val/product_nll', 'val/member_0_nll'];
    const shared = comparableMetrics([joint, joint]);
    expect(shared).toEqual(['val/product_nll', 'val/product_acc', 'val/ens_nll', 'val/ens_acc']);
    expect(panelMetrics([], shared, 'val/product_nll')).toEqual(['val/product_nll', 'val/product_acc']);
    expect(comparableMetrics([joint, ['val/ens_nll']])).toEqual(['val/ens_nll']);
    expect(memberNamesOf('val/product_nll', joint)).toEqual(['val/member_0_nll']);
  });

  it('say whose metric does not judge its answers', () => {
    const subject = (name: string, kind: string, task = 'classification') =>
      runSubject(
        runView({
          record: runRecord({ task, config: runConfigSchema.parse({ members: 2, strategy: { kind } }) }),
          row: runRow({ id: name, name }),
        }),
      );
    const [joint, apart] = [subject('joint', 'joint'), subject('apart', 'independent')];
    expect(describeOtherAnswers([joint, apart], ['val/ens_nll', 'val/product_nll'])).toBe(
      'ens NLL: of joint this judges the mean of the members, which answer by their product (such as product NLL).',
    );
    expect(describeOtherAnswers([joint, apart], ['val/product_nll'])).toBeNull();
    expect(describeOtherAnswers([apart], ['val/ens_nll'])).toBeNull();
    // The product of Gaussians of equal variance has the mean of their means.
    expect(describeOtherAnswers([subject('values', 'joint', 'regression')], ['val/ens_mse'])).toBeNull();
  });

  it('are those of the address that the runs have, each once', () => {
    const asked = listOf('val/ens_acc,val/other,val/ens_acc,,val/disagreement');
    expect(panelMetrics(asked, known, 'val/ens_nll')).toEqual(['val/ens_acc', 'val/disagreement']);
  });

  it('are the monitored metric and a usual one where the address names none', () => {
    expect(panelMetrics([], known, 'val/ens_ece')).toEqual(['val/ens_ece', 'val/ens_nll']);
    expect(panelMetrics(['val/gone'], known, null)).toEqual(['val/ens_nll', 'val/ens_acc']);
    expect(panelMetrics([], ['val/hits'], 'val/ens_nll')).toEqual(['val/hits']);
    expect(panelMetrics([], [], null)).toEqual([]);
  });

  it('keep other lines hidden when one is removed', () => {
    expect([...withoutPlace(new Set([0, 2, 5]), 2)]).toEqual([0, 4]);
    expect([...withoutPlace(new Set([1]), 3)]).toEqual([1]);
  });
});

describe('the lines of a run', () => {
  const run = runView({ row: runRow({ id: 'a' }), metrics: ['val/ens_nll', 'val/member_0_nll', 'val/ens_acc'] });

  async function read(metrics: string[], hasBands: boolean) {
    const requests: SeriesRequest[] = [];
    const hub = {
      series: async (_id: string, request: SeriesRequest) => {
        requests.push(request);
        const columns = {
          step: Int32Array.of(1, 2),
          epoch: Int32Array.of(0, 0),
          value: Float64Array.of(3, 4),
          total: 2,
        };
        return { series: request.names.map((name) => ({ name, ...columns })) };
      },
    };
    const reading = { metrics, hasBands, maximumPoints: 100 };
    return {
      lines: await readSubjectLines(hub, runSubject(run), reading, { version: 1, rank: 0, label: 'a' }),
      requests,
    };
  }

  it('are read in one call for all panels, with the members where bands are shown', async () => {
    const { lines, requests } = await read(['val/ens_nll', 'val/ens_acc', 'val/ens_ece'], true);
    expect(requests.map(({ names }) => names)).toEqual([['val/ens_nll', 'val/member_0_nll', 'val/ens_acc']]);
    expect([...lines.keys()]).toEqual(['val/ens_nll', 'val/ens_acc']);
    expect([...(lines.get('val/ens_nll')?.band?.upper ?? [])]).toEqual([3, 4]);
    expect(lines.get('val/ens_acc')?.band).toBeUndefined();
  });

  it('have no bands among many runs', async () => {
    const { requests } = await read(['val/ens_nll'], false);
    expect(requests.map(({ names }) => names)).toEqual([['val/ens_nll']]);
  });

  it('are not asked for where the run has none of the metrics: no names would mean all of them', async () => {
    const { lines, requests } = await read(['val/ens_mse'], true);
    expect(lines.size).toBe(0);
    expect(requests).toEqual([]);
  });
});
