import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMetrics } from '../../integration/metric-table.ts';
import type { RunUpdate } from '../../../core/protocol/pages/run-updates.ts';
import { readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { usualRequest } from '../../../core/postprocessing/request.ts';
import { openPage, openService } from './page.ts';
import { tinyProject } from './tiny-project.ts';

const everything = { names: [], maximumPoints: 1000, fromStep: null, toStep: null };
const endless = { maxEpochs: 1_000_000, checkpoints: { stateEverySeconds: 0 } };

describe('a run of this process', () => {
  it('is sent live, and its checkpoints reproduce their metrics', async () => {
    const { page, service, errors } = await openService();
    const projectFolder = tinyProject;
    const { id } = await page.hub.startRun({ projectFolder, overrides: { seed: 7 }, name: 'watched', out: null });
    await page.hub.watch(id);
    await expect.poll(async () => (await page.hub.run(id)).row.status).toBe('running');
    const early = await page.hub.run(id);
    // It may not have begun yet.
    const status = expect.stringMatching(/^(created|running)$/);
    expect(early).toMatchObject({ isInReach: true, row: { id, name: 'watched', status } });
    expect(early.ranks.map(({ rank, seed }) => [rank, seed])).toEqual([
      [0, 7],
      [1, 8],
    ]);
    await expect.poll(() => page.updates.at(-1)?.type).toBe('ended');

    const view = await page.hub.run(id);
    const facts = { isInReach: false, totalSteps: 12, ensembleMonitor: 'val/ens_nll' };
    expect(view).toMatchObject({ ...facts, row: { status: 'finished' }, ranks: [{ state: 'exited' }, {}] });
    const { folder, record } = view;

    // Every point was sent once, and reading afterwards returns what is on disk.
    const table = await readMetrics(folder);
    const { series } = await page.hub.series(id, everything);
    const told = page.updates.flatMap((update) => (update.type === 'points' ? [update.batch] : []));
    expect(series.map(({ name }) => name).sort()).toEqual(table.columns.toSorted());
    for (const { name, step, value } of series) {
      const present = table.present.get(name) ?? [];
      const kept = (_: number, row: number): boolean => present[row] === 1;
      expect(step).toEqual(table.step.filter(kept));
      expect([...value]).toEqual([...(table.values.get(name)?.filter(kept) ?? [])]);
      const values = told.flatMap((batch) => {
        const index = batch.names.indexOf(name);
        return [...batch.value].filter((_, point) => batch.nameIndex[point] === index);
      });
      expect(values).toEqual([...value].slice(value.length - values.length));
    }

    const final = record.summary?.evaluatedSets.find(({ set }) => set === 'final');
    const members = [0, 1].map((rank) => ({ rank, name: 'final' }));
    expect(await page.hub.evaluateSet(id, { members, split: 'test' })).toEqual({
      split: 'test',
      ensemble: final?.ensemble,
      members: final?.members,
      warnings: [],
    });
    const mixed = [
      { rank: 1, name: 'final' },
      { rank: 1, name: 'member-best' },
    ];
    const second = await page.hub.evaluateSet(id, { members: mixed, split: 'test' });
    expect(second.members.nll[0]).toBe(final?.members.nll[1]);
    const absent = page.hub.evaluateSet(id, { members: [{ rank: 0, name: 'absent' }], split: 'test' });
    await expect(absent).rejects.toThrow('Rank 0 has no checkpoint "absent"');

    const request = { ...usualRequest, method: 'vector' as const, calibrationShare: 1 };
    const calibration = { set: 'final' as const, split: 'validation' as const, request, corruptions: false };
    const calibrated = await page.hub.calibrate(id, calibration);
    expect(calibrated).toMatchObject({ warnings: [], postprocessing: { calibration: { method: 'vector' } } });
    expect(calibrated.postprocessing.measured?.calibration?.before.nll).toBe(final?.ensemble.nll);
    expect(await page.hub.postprocessing(id)).toEqual([calibrated.postprocessing]);
    const wrong = { ...calibration, request: { ...request, method: 'sigma' as const } };
    await expect(page.hub.calibrate(id, wrong)).rejects.toThrow('method "sigma" does not suit');

    const names = await page.hub.predictionNames(id);
    expect(names.filter(({ split }) => split === 'test').map(({ name }) => name)).toContain('final');
    const predictions = await page.hub.predictions(id, { split: 'test', name: 'final' });
    expect(predictions).toMatchObject({ task: 'classification', ranks: [0, 1], samples: 30, width: 3, feature: null });
    expect(predictions?.outputs[0]).toHaveLength(2 * 30 * 3);
    expect(predictions?.targets).toBeInstanceOf(Int32Array);
    const correct = [...(predictions?.targets ?? [])].filter((label, sample) => {
      const row = [...(predictions?.outputs[0].subarray(sample * 3, sample * 3 + 3) ?? [])];
      return row.indexOf(Math.max(...row)) === label;
    });
    expect(correct.length / 30).toBeCloseTo(final?.members.acc[0] ?? Number.NaN, 12);
    expect(await page.hub.predictions(id, { split: 'test', name: 'absent' })).toBeNull();

    const { cells } = await page.hub.checkpoints(id);
    expect(cells.filter(({ record }) => record.name === 'ensemble-best').map((cell) => cell.isEnsembleBest)).toEqual([
      true,
      true,
    ]);

    const exported = await page.hub.exportRun(id, { formats: ['csv', 'record'], checkpoints: null });
    expect(exported).toMatchObject({ link: `/exports/${id}.zip`, bytes: (await stat(exported.path)).size });
    await expect(page.hub.exportRun(id, { formats: ['xlsx'], checkpoints: null })).rejects.toThrow(
      'There is no export format "xlsx"',
    );

    const preview = await page.hub.previewRun({ projectFolder, overrides: {}, name: null, out: null });
    expect(preview.durationSeconds).toBeGreaterThan(0);
    // 8 x (2 + 1) + 3 x (8 + 1) = 51 parameters of 4 bytes; 3 checkpoints and 3 states of 3 copies each, 2 members.
    // Weights, gradients and two moments of Adam, 4 bytes each.
    expect(preview.leastRankBytes).toBe((2 + 2) * 51 * 4);
    expect(preview.diskBytes).toBe(2 * (3 + 9) * 51 * 4 + 16 * 1024 ** 2);
    expect(await page.hub.openPath(projectFolder)).toMatchObject({
      project: {
        name: 'Blobs',
        isExample: false,
        isTrusted: true,
        warning: null,
        asks: [],
        lastRun: { id, status: 'finished' },
      },
    });
    expect(service.training.count).toBe(0);
    expect(errors).toEqual([]);
  }, 60_000);

  it('continues without pages, saves their requested checkpoints, and is interrupted with the process', async () => {
    const { service, page, errors } = await openService();
    const projectFolder = tinyProject;
    const { id } = await page.hub.startRun({ projectFolder, overrides: endless, name: null, out: null });
    await page.hub.watch(id);
    await expect.poll(() => page.updates.some(({ type }) => type === 'points')).toBe(true);
    await expect(page.hub.deleteRun(id)).rejects.toThrow('Stop it before deleting it');
    const calibration = {
      set: 'final' as const,
      split: 'validation' as const,
      request: usualRequest,
      corruptions: false,
    };
    await expect(page.hub.calibrate(id, calibration)).rejects.toThrow('Calibrate it once it has ended');
    await expect(page.hub.control(id, { action: 'checkpoint', name: '../x' })).rejects.toThrow(
      'cannot name a checkpoint',
    );
    await expect(page.hub.resumeRun(id, {}, null)).rejects.toThrow(/a run has one hub|already training/);
    page.close();
    expect(service.training.count).toBe(1);

    const other = openPage(service);
    await other.hub.watch(id);
    await other.hub.control(id, { action: 'checkpoint', name: 'asked' });
    const isAsked = (update: RunUpdate) => update.type === 'checkpoint' && update.record.name === 'asked';
    await expect.poll(() => other.updates.filter(isAsked)).toHaveLength(2);
    const names = (await other.hub.checkpoints(id)).cells.map(({ record }) => record.name);
    expect(names.filter((name) => name === 'asked')).toHaveLength(2);

    const { folder } = await other.hub.run(id);
    await service.close();
    expect(await readRunRecord(folder)).toMatchObject({ status: 'interrupted', hub: null });
    expect(errors).toEqual([]);
  }, 60_000);

  it("stops jointly on a page's request, and a page can resume it", async () => {
    const { page, errors } = await openService();
    const projectFolder = tinyProject;
    const { id } = await page.hub.startRun({ projectFolder, overrides: endless, name: null, out: null });
    await page.hub.watch(id);
    const endings = () => page.updates.filter(({ type }) => type === 'ended').length;
    await expect.poll(() => page.updates.some(({ type }) => type === 'points')).toBe(true);
    await page.hub.control(id, { action: 'stop' });
    await expect.poll(endings).toBe(1);
    await expect(page.hub.control(id, { action: 'stop' })).rejects.toThrow(
      `The run ${id} is stopped: no process trains it`,
    );
    await page.hub.resumeRun(id, {}, null);
    await page.hub.abort(id);
    await expect.poll(endings).toBe(2);
    const { record, folder } = await page.hub.run(id);
    expect(record.attempts.map(({ status }) => status)).toEqual(['stopped', 'interrupted']);
    expect(await readFile(join(folder, 'run.json'), 'utf8')).toContain('interrupted');
    expect(errors).toEqual([]);
  }, 60_000);

  it("resumes with a page's changes, in the folder that the page named", async () => {
    const { home, page, errors } = await openService();
    const projectFolder = tinyProject;
    const out = join(home, 'elsewhere', 'first');
    const { id } = await page.hub.startRun({ projectFolder, overrides: { maxEpochs: 2 }, name: null, out });
    const recordNow = async () => (await page.hub.run(id)).record;
    await expect.poll(async () => (await recordNow()).status).toBe('finished');
    expect((await page.hub.run(id)).folder).toBe(out);

    expect((await page.hub.previewResume(id, { members: 3 })).problems).toMatchObject([{ path: 'members' }]);
    const wrong = await page.hub.previewResume(id, { maxEpochs: 0 });
    expect(wrong).toMatchObject({ config: null, problems: [{ path: 'maxEpochs' }] });
    const changes = { maxEpochs: 3, optimizer: { learningRate: 0.5 } };
    const preview = await page.hub.previewResume(id, changes);
    expect(preview).toMatchObject({ problems: [], config: { maxEpochs: 3 }, plan: [{ rank: 0 }, { rank: 1 }] });
    expect(preview.commandLine).toBe(`npx tutti resume ${id} --set optimizer.learningRate=0.5 --set maxEpochs=3`);

    await page.hub.resumeRun(id, changes, null);
    await expect.poll(async () => (await recordNow()).attempts.at(-1)?.status).toBe('finished');
    expect(await recordNow()).toMatchObject({
      config: { maxEpochs: 3, optimizer: { learningRate: 0.5 } },
      summary: { epochs: 3 },
    });
    expect(errors).toEqual([]);
  }, 60_000);

  it('is refused with the reason if it cannot start', async () => {
    const { page } = await openService();
    const projectFolder = tinyProject;
    const start = (overrides: Record<string, unknown>) =>
      page.hub.startRun({ projectFolder, overrides, name: null, out: null });
    await expect(start({ members: 0 })).rejects.toThrow('members is 0, but must be a whole number from 1 to 256');
    await expect(start({ hyperparameters: { depth: 2 } })).rejects.toThrow('not a hyperparameter of project "Blobs"');
    await expect(start({ devices: 'cuda:9' })).rejects.toThrow('cuda');
    expect((await page.hub.runs({})).rows).toEqual([]);
  });
});
