import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { predictRun } from '../../src-main/predictions/predict-run.ts';
import { readPredictions } from '../../src-main/rpc/runs/predictions.ts';
import { serveEnsemble } from '../../src-main/serving/serve-ensemble.ts';
import { expectPredictedAsTrained } from './expect-predicted.ts';
import { metricValues, train, useHub } from './harness.ts';

const { hub } = useHub();

/** The labels that a server gives for texts, which the project's own code turns into ids. */
async function serveTexts(folder: string, texts: string[]): Promise<number[]> {
  const limits = {
    maxBatch: 8,
    maxDelayMs: 0,
    maxQueue: 8,
    maxBodyBytes: 10_000,
    maxSamples: 8,
    inputsTimeoutMs: 60_000,
  };
  const notices: string[] = [];
  const onNotice = (text: string) => notices.push(text);
  const server = await serveEnsemble({ folder, host: '127.0.0.1', port: 0, onNotice, ...limits });
  onTestFinished(() => server.close());
  const text = { name: 'text', datatype: 'BYTES', shape: [texts.length], data: texts };
  const body = JSON.stringify({ inputs: [text], outputs: [{ name: 'label' }] });
  const answer = await fetch(`${server.url}/infer`, { method: 'POST', body });
  const { outputs } = (await answer.json()) as { outputs: { data: number[] }[] };
  expect(notices).toEqual([]);
  return outputs[0].data;
}

describe('projects that read sequences', () => {
  it('forecast a series with its uncertainty', async () => {
    const { record, folder } = await train(hub(), 'sunspots', { members: 2, devices: 2, seed: 1 });
    expect(record).toMatchObject({ status: 'finished', error: null });
    const nll = metricValues(folder, 'val/ens_nll').map(Number);
    expect(nll.at(-1)).toBeLessThan(nll[0]);
    const final = record.summary?.evaluatedSets.find(({ set }) => set === 'final');
    expect(final?.split).toBe('test');
    await expectPredictedAsTrained({ folder, record });
    // Targets have variance 1 on training, and most of it is the cycle of eleven years.
    expect(final?.ensemble.mse).toBeLessThan(1);
  });

  it('classify texts of different lengths, whose order of words counts', async () => {
    const { record, folder } = await train(hub(), 'reviews', { members: 2, devices: 2, seed: 2 });
    expect(record).toMatchObject({ status: 'finished', error: null });
    // Without the order, nothing is better than a coin.
    expect(Number(metricValues(folder, 'val/ens_acc').at(-1))).toBeGreaterThan(0.9);
    await expectPredictedAsTrained({ folder, record });
    const [input, output] = ['new.txt', 'predicted.csv'].map((name) => join(folder, name));
    await writeFile(input, 'the film was wonderful.\nthe film was not wonderful.\n');
    const { warnings } = await predictRun({ folder, input, output, format: 'csv' });
    expect(warnings).toEqual([]);
    const [header, ...rows] = (await readFile(output, 'utf8')).trimEnd().split('\n');
    expect(header).toBe('row,class,probability_negative,probability_positive,entropy,mutual_information');
    expect(rows.map((row) => row.split(',').slice(0, 2))).toEqual([
      ['0', 'positive'],
      ['1', 'negative'],
    ]);
    expect(await serveTexts(folder, ['the film was wonderful.', 'the film was not wonderful.'])).toEqual([1, 0]);
  });

  it('write words backwards, with an encoder and a decoder, and letters that do not count', async () => {
    const { record, folder } = await train(hub(), 'reversed', {
      devices: 2,
      checkpoints: { monitor: 'val/ens_words' },
    });
    expect(record).toMatchObject({ status: 'finished', error: null });
    // One letter of four would be right by chance.
    expect(Number(metricValues(folder, 'val/ens_acc').at(-1))).toBeGreaterThan(0.8);
    const kept = await readPredictions({ hub: hub() }, record.id, { split: 'validation', name: 'best' });
    await expectPredictedAsTrained({ folder, record });
    // 200 words of 2 to 4 letters: the page does not count their padding.
    expect(kept).toMatchObject({ kind: 'logits', width: 4 });
    expect(kept?.samples).toBe(kept?.targets.length);
    expect(kept?.samples).toBeGreaterThan(2 * 200);
    expect(kept?.samples).toBeLessThan(4 * 200);
  });
});
