import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { ensembleOutputSchema } from '../../core/protocol/pages/json-outputs.ts';
import { usualRequest } from '../../core/postprocessing/request.ts';
import { calibrateRun } from '../../src-main/calibration/calibrate-run.ts';
import { gatherReport } from '../../src-main/report/write-report.ts';
import { openEnsemble } from '../../workers/index.ts';
import { startBackend } from '../../workers/backends/backend.ts';
import { largestError } from '../unit/exchange/layer-models.ts';
import { runOnnx } from '../unit/onnx/run-onnx.ts';
import { train, useHub } from './harness.ts';

const { hub, home } = useHub();
const tutti = fileURLToPath(new URL('../../src-main/tutti.mjs', import.meta.url));

async function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const command = spawn(process.execPath, [tutti, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [[code], stdout, stderr] = await Promise.all([
    once(command, 'exit') as Promise<[number]>,
    text(command.stdout),
    text(command.stderr),
  ]);
  return { code, stdout, stderr };
}

it('members of two runs become a run like any other', async () => {
  const first = await train(hub(), 'blobs', { members: 2, membersPerDevice: 2, maxEpochs: 2 });
  const second = await train(hub(), 'blobs', { members: 1, maxEpochs: 2, seed: 9 });
  const made = await run('ensemble', first.folder, second.folder, '--name', 'chosen', '--json');
  expect(made).toMatchObject({ code: 0, stderr: '' });
  const { id, folder, members, losses, evaluated } = ensembleOutputSchema.parse(JSON.parse(made.stdout));
  expect(losses.chosen).toBeLessThanOrEqual(Math.min(...losses.candidates));

  const record = await hub().record(id);
  expect(record).toMatchObject({ name: 'chosen', status: 'finished', config: { members: members.length } });
  const known = [first.record, second.record];
  for (const [rank, [position]] of record.parts?.members.entries() ?? []) {
    const source = record.parts?.sources[position] ?? assert.fail('A member has a source.');
    const from = known.find((one) => one.id === source.run);
    expect(from?.seeds[source.rank]).toBe(record.seeds[rank]);
  }

  const request = { set: 'ensemble-best', split: 'validation', request: usualRequest, corruptions: false } as const;
  const { postprocessing } = await calibrateRun(folder, record, request);
  expect(postprocessing.measured?.calibration?.before.nll).toBeCloseTo(evaluated.ensemble.nll, 5);
  const ensemble = await openEnsemble(folder);
  expect(ensemble.description.members).toHaveLength(members.length);
  ensemble.dispose();
  const exported = join(home(), 'exported');
  await hub().export(id, { to: exported, zip: false, formats: ['ensemble', 'onnx', 'pytorch'] });
  expect((await readFile(join(exported, 'onnx', 'ensemble.onnx'))).length).toBeGreaterThan(0);
  const report = await gatherReport(hub(), id, '0');
  expect(report.view.record.parts?.method).toBe('greedy');
  expect(report.predictions.map(({ split }) => split)).toEqual(['validation', 'test']);
  await expect(hub().resume(id, {}, () => {})).rejects.toThrow('was made from checkpoints and has no state');
});

const points = [
  [0.5, 1],
  [-2, 0.25],
  [3, -1],
];

/** Predictions of the points by `tutti predict`, `[N, K]`. */
async function predicted(folder: string, name: string): Promise<number[]> {
  const [input, output] = [`${name}.csv`, `${name}.jsonl`].map((file) => join(home(), file));
  await writeFile(input, `x,y\n${points.map((point) => point.join()).join('\n')}\n`);
  expect(await run('predict', folder, '--input', input, '--output', output)).toMatchObject({ code: 0 });
  const rows = (await readFile(output, 'utf8')).trim().split('\n');
  return rows.flatMap((row) =>
    Object.entries(JSON.parse(row) as Record<string, number>).flatMap(([column, value]) =>
      column.startsWith('probability') ? [value] : [],
    ),
  );
}

/** The answer of `tutti serve` for the points, `[N, K]`. */
async function served(folder: string): Promise<number[]> {
  const server = spawn(process.execPath, [tutti, 'serve', folder, '--json'], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void server.kill('SIGKILL'));
  const [line] = await once(createInterface(server.stdout), 'line');
  const { url } = JSON.parse(line as string) as { url: string };
  const input = { name: 'features', datatype: 'FP32', shape: [points.length, 2], data: points.flat() };
  const response = await fetch(`${url}/infer`, { method: 'POST', body: JSON.stringify({ inputs: [input] }) });
  const { outputs } = (await response.json()) as { outputs: { name: string; data: number[] }[] };
  return outputs.find(({ name }) => name === 'mean')?.data ?? [];
}

it('drawn members are predicted alike by all commands', async () => {
  const trained = await train(hub(), 'blobs', { members: 1, maxEpochs: 3, checkpoints: { everyEpochs: 1 } });
  await startBackend('cpu');
  const features = Float32Array.from(points.flat());
  const folders: string[] = [];
  for (const method of ['swag', 'mc-dropout']) {
    const made = await run('ensemble', trained.folder, '-m', method, '--samples', '3', '--name', method, '--json');
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const { folder } = ensembleOutputSchema.parse(JSON.parse(made.stdout));
    folders.push(folder);
    const ensemble = await openEnsemble(folder);
    const found = await ensemble.predict({ values: features });
    ensemble.dispose();
    const members = [0, 1, 2].map((member) => found.members.slice(9 * member, 9 * member + 9).join());
    expect(new Set(members).size).toBe(3);

    const to = join(home(), `exported-${method}`);
    await hub().export(folder, { to, zip: false, formats: ['onnx'] });
    const file = await readFile(join(to, 'onnx', 'ensemble.onnx'));
    const onnx = await runOnnx(file, { features: { shape: [points.length, 2], data: features } });
    for (const answer of [onnx.mean.data, ...(await Promise.all([predicted(folder, method), served(folder)]))]) {
      expect(answer).toHaveLength(found.mean.length);
      expect(largestError(answer, found.mean)).toBeLessThan(1e-5);
    }
  }
  expect(await run('calibrate', folders[1], '--json')).toMatchObject({ code: 0 });
  // TensorFlow.js alone has no layer for the masks.
  const layers = { to: join(home(), 'layers'), zip: false, formats: ['tfjs' as const] };
  await expect(hub().export(folders[1], layers)).rejects.toThrow('Export the format ensemble, onnx or pytorch.');
});
