import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { ensembleOutputSchema } from '../../core/protocol/pages/json-outputs.ts';
import { usualRequest } from '../../core/postprocessing/request.ts';
import { calibrateRun } from '../../src-main/calibration/calibrate-run.ts';
import { gatherReport } from '../../src-main/report/gather.ts';
import { openEnsemble } from '../../workers/index.ts';
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
  for (const [rank, [source]] of record.parts?.members.entries() ?? []) {
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
