import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { EnsemblePredictions } from '../../../core/ensemble/predictions.ts';
import { postprocessingSchema } from '../../../core/postprocessing/schema.ts';
import { usualRequest } from '../../../core/postprocessing/request.ts';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { writeFileAtomic } from '../../../core/node/atomic-file.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { calibrateRun } from '../../../src-main/calibration/calibrate-run.ts';
import { dataFolders } from '../../../src-main/store/home.ts';
import { openEnsemble, type Project } from '../../../workers/index.ts';
import { metricValues, readCheckpointRecord, resume, startRun, train, trainOnce, useHub } from '../harness.ts';

const { hub } = useHub();
const undisturbed = trainOnce();
const jointRun: RunConfigInput = { members: 3, devices: 2, maxEpochs: 2, seed: 11, strategy: { kind: 'joint' } };
const ranks = [0, 1, 2];

const finalHashes = (folder: string): string[] =>
  ranks.map((rank) => readCheckpointRecord(folder, rank, 'final').sha256);

describe('members trained jointly in separate workers', () => {
  it('share one loss, exchange 2·B·K floats per step, and are evaluated as a product of experts', async () => {
    const { folder, record } = await undisturbed(hub(), 'blobs', jointRun);
    expect(record).toMatchObject({ status: 'finished', error: null, summary: { best: { metric: 'val/product_nll' } } });
    const losses = ranks.map((rank) => metricValues(folder, `train/member_${rank}_loss`));
    expect(losses[0]).toHaveLength(6);
    expect(losses[1]).toEqual(losses[0]);
    expect(losses[2]).toEqual(losses[0]);
    const bytes = 2 * 30 * 3 * Float32Array.BYTES_PER_ELEMENT;
    for (const rank of ranks) {
      expect(metricValues(folder, `train/member_${rank}_bytes_per_step`)).toEqual(Array(6).fill(String(bytes)));
    }
    expect(new Set(finalHashes(folder)).size).toBe(3);
  });

  it('give the same results, bit for bit, when logits are gathered instead', async () => {
    const reduced = await undisturbed(hub(), 'blobs', jointRun);
    const gathered = await train(hub(), 'blobs', { ...jointRun, strategy: { kind: 'joint', mode: 'gather' } });
    expect(finalHashes(gathered.folder)).toEqual(finalHashes(reduced.folder));
  });

  it.each(['reduce', 'tree', 'pipelined'] as const)(
    'stop at the same step and resume as if they had not stopped (%s)',
    async (mode) => {
      const config: RunConfigInput = { ...jointRun, strategy: { kind: 'joint', mode }, maxEpochs: 100_000 };
      const run = await startRun(hub(), 'blobs', config);
      await run.until((update) => update.type === 'progress' && update.step > 10);
      run.session.control({ action: 'stop' });
      expect((await run.ended).status).toBe('stopped');
      const steps = ranks.map((rank) => readCheckpointRecord(run.folder, rank, 'final').step);
      expect(new Set(steps).size).toBe(1);

      const maxEpochs = Math.ceil(steps[0] / 3) + 2;
      expect((await resume(hub(), run.folder, { maxEpochs })).status).toBe('finished');
      const whole = await train(hub(), 'blobs', { ...config, maxEpochs });
      expect(finalHashes(run.folder)).toEqual(finalHashes(whole.folder));
      const lastLosses = ({ folder }: { folder: string }) => metricValues(folder, 'train/member_0_loss').slice(-4);
      expect(lastLosses(run)).toHaveLength(4);
      expect(lastLosses(run)).toEqual(lastLosses(whole));
    },
  );
});

/**
 * −log of the probability that an answer gives each target, averaged: of a class, of each label's state, of a count.
 */
function nllOf({ kind, mean, width }: EnsemblePredictions, targets: ArrayLike<number>): number {
  const losses = Array.from({ length: targets.length }, (_, i) => {
    const target = targets[i];
    if (kind === 'classes') return -Math.log(mean[i * width + target]);
    if (kind === 'labels') return -Math.log(target === 1 ? mean[i] : 1 - mean[i]);
    let logFactorial = 0;
    for (let k = 2; k <= target; k++) logFactorial += Math.log(k);
    return mean[i] - target * Math.log(mean[i]) + logFactorial;
  });
  return losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
}

describe('members trained jointly answer', () => {
  it.each(['blobs', 'labels', 'counts'])('as they were evaluated, also once they are calibrated (%s)', async (name) => {
    const { folder, record } = await train(hub(), name, { ...jointRun, maxEpochs: 3 });
    const { default: project } = (await import(pathToFileURL(join(record.project.folder, 'project.ts')).href)) as {
      default: Project;
    };
    const { config } = record;
    const hyperparameters = project.hyperparameters.parse(config.hyperparameters);
    const { test } = await project.data({ hyperparameters, config, folders: dataFolders(), seed: config.seed });
    const set = 'ensemble-best';
    const evaluated = record.summary?.evaluatedSets.find((found) => found.set === set && found.split === 'test');
    if (test === undefined || evaluated === undefined) throw new Error(`${name} has no test split.`);
    const { product_nll: reported, nll: ofMean } = evaluated.ensemble;
    expect(reported).not.toBeCloseTo(ofMean, 7);
    const predicted = async (): Promise<EnsemblePredictions> => {
      const ensemble = await openEnsemble(folder, { set });
      const found = await ensemble.predict({ values: test.features });
      ensemble.dispose();
      return found;
    };
    const plain = await predicted();
    expect(nllOf(plain, test.targets)).toBeCloseTo(reported, 5);

    const { postprocessing, path } = await calibrateRun(folder, record, {
      set,
      split: 'validation',
      request: { ...usualRequest, method: 'none' },
      corruptions: false,
    });
    expect(postprocessing.combination).toBe('product');
    // Counts are judged as one Gaussian, under another name.
    const { nll: before = reported } = postprocessing.measured?.calibration?.before ?? {};
    expect(before).toBeCloseTo(reported, 5);
    // A calibration that does nothing leaves the answers as they are.
    expect((await predicted()).mean).toEqual(plain.mean);
    const fitted = postprocessingSchema.parse(JSON.parse(await readFile(path, 'utf8')));
    await writeFileAtomic(path, toJson({ ...fitted, combination: 'mean' }));
    await expect(predicted()).rejects.toThrow(
      `postprocessing/${set}.json in ${folder} is for members that answer by their mean, but this ensemble ` +
        'answers by their product',
    );
  });
});
