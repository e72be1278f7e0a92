import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import type { RunEvent } from '../../../core/protocol/run/record.ts';
import { readEvents } from '../../../src-main/store/runs/run-folder.ts';
import { killable, mergedMetrics, metricValues, resume, startRun, trainOnce, untilStep, useHub } from '../harness.ts';

const { hub, home } = useHub();
const undisturbed = trainOnce();

/** 20 steps an epoch, an evaluation and a state after each. */
const config: RunConfigInput = {
  ...killable,
  members: 2,
  maxEpochs: 8,
  evaluateEveryEpochs: 1,
  logEverySteps: 7,
  hyperparameters: { samples: 1000 },
};

/** A run that was stopped after an epoch, so that its last state knows how many rows there are, or within one. */
const stopped = new Map<string, Promise<string>>();

async function stopRun(kind: 'after an epoch' | 'within an epoch'): Promise<string> {
  const run = await startRun(hub(), 'blobs', config);
  await untilStep(run, 0, 65);
  run.session.control({ action: kind === 'after an epoch' ? 'stop-at-epoch-end' : 'stop' });
  expect((await run.ended).status).toBe('stopped');
  return run.folder;
}

let copies = 0;

/** A copy of the stopped run whose metrics are damaged. */
async function damaged(kind: 'after an epoch' | 'within an epoch', damage: (path: string) => void): Promise<string> {
  const known = stopped.get(kind) ?? stopRun(kind);
  stopped.set(kind, known);
  const folder = join(home(), `copy-${(copies += 1)}`);
  cpSync(await known, folder, { recursive: true });
  damage(join(folder, 'metrics.csv'));
  return folder;
}

async function eventsOf(folder: string, kind: string): Promise<RunEvent[]> {
  return (await readEvents(folder)).filter((event) => event.kind === kind);
}

const linesOf = (path: string): string[] => readFileSync(path, 'utf8').trimEnd().split('\n');
const damages: Record<string, (path: string) => void> = {
  'is cut': (path) => writeFileSync(path, `${linesOf(path).slice(0, 4).join('\n')}\n`),
  'is empty': (path) => writeFileSync(path, ''),
  'has its header alone': (path) => writeFileSync(path, `${linesOf(path)[0]}\n`),
  'is missing': (path) => rmSync(path),
  'is of another run': (path) => writeFileSync(path, 'epoch,step,val/ens_nll\n0,20,0.5\n'),
  'is no file of metrics': (path) => writeFileSync(path, '\0'.repeat(300)),
  'is a pipe': (path) => {
    rmSync(path);
    execFileSync('mkfifo', [path]);
  },
  'is a folder': (path) => {
    rmSync(path);
    mkdirSync(path);
  },
};

describe.each([
  ['within an epoch', ['is cut', 'is empty', 'is of another run', 'is a pipe']],
  ['after an epoch', ['is cut', 'has its header alone', 'is missing', 'is no file of metrics', 'is a folder']],
] as const)('metrics of a run that was stopped %s', (kind, names) => {
  it.each(names)('where the file %s, have their evaluations again after a resume, which says so', async (name) => {
    const folder = await damaged(kind, damages[name]);
    const record = await resume(hub(), folder);
    expect(record).toMatchObject({ status: 'finished', error: null });
    const whole = await undisturbed(hub(), 'blobs', config);
    for (const metric of ['val/ens_nll', 'val/member_1_nll', 'val/ens_acc'])
      expect((await mergedMetrics(folder)).values.get(metric)?.filter((value) => !Number.isNaN(value))).toEqual(
        (await mergedMetrics(whole.folder)).values.get(metric)?.filter((value) => !Number.isNaN(value)),
      );
    expect(record.summary?.best).toEqual(whole.record.summary?.best);
    const [lost, ...more] = await eventsOf(folder, 'metrics-lost');
    expect(more).toEqual([]);
    expect(lost.message).toMatch(/metrics\.csv .* of evaluations from the saved states.*put the copy in its place/s);
    expect(lost.step).toBeLessThan(Number(lost.data.toStep));
    const isAside = /pipe|folder|no file/.test(name);
    expect(readdirSync(folder).includes('metrics.csv.damaged-1')).toBe(isAside);
    expect(await eventsOf(folder, 'file-damaged')).toHaveLength(isAside ? 1 : 0);
  });
});

it('are taken whole from the copies that earlier attempts left', async () => {
  const folder = await damaged('within an epoch', () => undefined);
  const second = await hub().resume(folder, {}, (update) => {
    if (update.type === 'points' && Math.max(...update.batch.step) > 90) second.control({ action: 'stop' });
  });
  expect((await second.run()).status).toBe('stopped');
  const [cut] = (await readEvents(folder)).filter(({ kind, attempt }) => kind === 'started' && attempt === 2);
  writeFileSync(join(folder, 'metrics.csv'), '');
  expect(await resume(hub(), folder)).toMatchObject({ status: 'finished' });
  const [lost] = await eventsOf(folder, 'metrics-lost');
  expect(lost.message).toMatch(/values from copies that earlier attempts left/);
  const whole = await undisturbed(hub(), 'blobs', config);
  const early = metricValues(whole.folder, 'train/member_0_loss');
  const kept = metricValues(folder, 'train/member_0_loss');
  const count = Math.floor((cut.step ?? 0) / 7);
  expect(count).toBeGreaterThan(5);
  expect(kept).toEqual(expect.arrayContaining(early.slice(0, count)));
});

it('that are whole are no reason for an event', async () => {
  const folder = await damaged('after an epoch', () => undefined);
  expect(await resume(hub(), folder)).toMatchObject({ status: 'finished' });
  expect(await eventsOf(folder, 'metrics-lost')).toEqual([]);
});
