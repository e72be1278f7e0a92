import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { decodeSafetensors } from '../../../core/safetensors/safetensors.ts';
import { readEvents, readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { notRun, notWindows } from '../../environment/reasons.ts';
import { largestDifference } from '../../unit/strategies/ranks.ts';
import { trainOnce, useHub } from '../harness.ts';
import { killNode, type LaunchedTask, processesOf, startTask, torchrun, trainArguments } from './launch.ts';

const { hub, home } = useHub();
const once = trainOnce();
const port = 31_000 + (process.pid % 10_000);
const tasks: LaunchedTask[] = [];

afterEach(() => {
  for (const task of tasks.splice(0))
    if (task.child.exitCode === null && task.child.signalCode === null) killNode(task);
});

function weights(folder: string, rank: number): string {
  const file = join(folder, 'checkpoints', `rank-${rank}`, 'final.safetensors');
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function finalWeights(folder: string): number[] {
  const content = readFileSync(join(folder, 'checkpoints', 'rank-0', 'final.safetensors'));
  return decodeSafetensors(content).tensors.flatMap(({ data }) => [...(data as Float32Array)]);
}

function launch(args: string[], size: number): (rank: number, node: string) => LaunchedTask {
  return (rank, node) => {
    const task = startTask(node, torchrun(rank, size, port + size), args);
    tasks.push(task);
    return task;
  };
}

const saved = (line: string): boolean => line.includes('"type":"checkpoint"');

describe.skipIf(notWindows !== null)(`a launch with an elastic number of nodes${notRun(notWindows)}`, () => {
  it('begins with the least, waits below it, and gives ranks to nodes that join, with the bits of one machine', async () => {
    const options = { members: 2, devices: 'cpu:0', 'max-epochs': 400, 'evaluate-every-epochs': 20 };
    const own = { strategy: 'data-parallel', 'checkpoints.state-every-seconds': 0 };
    const folder = join(home(), 'elastic');
    const start = launch([...trainArguments('blobs', folder, { ...options, ...own }), '--nodes', '2:3:1'], 3);
    const first = start(0, 'a');
    const second = start(1, 'b');
    await first.until(saved);
    expect((await readRunRecord(folder)).plan.map(({ device }) => device.id)).toEqual(['a/cpu:0', 'b/cpu:0']);
    killNode(second);
    await first.until((line) => line.includes('"kind":"nodes-awaited"'));
    // It joins in place of the lost one; the next one has a third number, and takes part from the next restart on.
    const third = start(1, 'c');
    await first.until((line) => line.includes('"kind":"ranks-moved"'));
    const seen = first.lines.length;
    start(2, 'd');
    await first.until((line) => saved(line) && first.lines.indexOf(line) > seen);
    await first.until((line) => line.includes('"kind":"node-joined"') && line.includes('The node d has joined'));
    killNode(third);
    expect(await first.ended).toBe(0);
    const record = await readRunRecord(folder);
    expect(record).toMatchObject({ status: 'finished', attempts: [{}, { kind: 'restart' }, { kind: 'restart' }] });
    const messages = (await readEvents(folder)).flatMap(({ kind, message }) =>
      ['ranks-moved', 'nodes-awaited', 'node-joined'].includes(kind) ? [message] : [],
    );
    expect(messages).toEqual([
      '1 of at least 2 nodes is left, so the run waits for another one.',
      'The node c has joined. It takes part from the next restart on.',
      'Their node is gone, so ranks move: rank 1 to c/cpu:0.',
      'The node d has joined. It takes part from the next restart on.',
      'Their node is gone, so ranks move: rank 1 to d/cpu:0.',
    ]);
    const config = { members: 2, devices: 'cpu:0', maxEpochs: 400, evaluateEveryEpochs: 20 };
    const undisturbed = await once(hub(), 'blobs', { ...config, strategy: { kind: 'data-parallel' } });
    expect(weights(folder, 0)).toBe(weights(undisturbed.folder, 0));
  });

  it('trains one model with a rank for each device that is there, fewer or more after a restart', async () => {
    // All samples in each step, so that the updates are those of one process, up to rounding.
    const common = { devices: 'cpu:0', 'batch-size': 1000, dropout: 0, 'evaluate-every-epochs': 10 };
    const optimizer = { optimizer: 'sgd', 'optimizer.momentum': 0.9, 'optimizer.learning-rate': 0.01 };
    const own = { strategy: 'sharded', 'on-member-loss.world-size': 'devices', 'checkpoints.state-every-seconds': 0 };
    const folder = join(home(), 'resized');
    const options = { ...common, ...optimizer, ...own, members: 3, 'max-epochs': 100_000 };
    const start = launch([...trainArguments('blobs', folder, options), '--nodes', '1:3:60'], 3);
    const [first, , third] = [start(0, 'a'), start(1, 'b'), start(2, 'c')];
    // The first rank reports an evaluation before it saves the state.
    const evaluatedTwice = async (after: string): Promise<void> => {
      let place = first.lines.indexOf(await first.until((line) => line.includes(after)));
      let count = 0;
      await first.until(() => {
        while (place < first.lines.length) if (first.lines[place++].includes('"name":"val/ens_nll"')) count += 1;
        return count >= 2;
      });
    };
    await evaluatedTwice('Effective batch size 3000: 1000 samples × 3 ranks.');
    killNode(third);
    await evaluatedTwice('Effective batch size 2000: 1000 samples × 2 ranks.');
    start(2, 'd');
    await first.until((line) => line.includes('The node d has joined'));
    const ofRank0 = first.lines.findLast((line) => line.includes('"type":"worker","rank":0'));
    process.kill(Number(/"pid":(\d+)/.exec(ofRank0 ?? '')?.[1]), 'SIGKILL');
    await evaluatedTwice('Ranks follow the devices: 3 of at most 3 train, on a/cpu:0, b/cpu:0, d/cpu:0.');
    await hub().control(folder, { action: 'stop' });
    expect(await first.ended).toBe(3);
    const { plan, config, summary } = await readRunRecord(folder);
    expect([plan.length, config.members]).toEqual([3, 3]);
    const events = (await readEvents(folder)).filter(({ kind }) => kind === 'world-size');
    expect(events.map(({ data: { before, worldSize } }) => [before, worldSize])).toEqual([
      [3, 2],
      [2, 3],
    ]);
    const kept = { devices: 'cpu:0', batchSize: 1000, hyperparameters: { dropout: 0 }, evaluateEveryEpochs: 1000 };
    const undisturbed = await once(hub(), 'blobs', {
      ...kept,
      members: 1,
      optimizer: { kind: 'sgd', momentum: 0.9, learningRate: 0.01 },
      maxEpochs: 100_000,
      maxSteps: summary?.steps,
    });
    expect(largestDifference(finalWeights(folder), finalWeights(undisturbed.folder))).toBeLessThan(1e-3);
  });

  it('continues without the members of a node that is mute although its connections stay open, and completes them later', async () => {
    const options = { members: 2, devices: 'cpu:0', 'max-epochs': 100, 'evaluate-every-epochs': 20 };
    const own = { 'on-member-loss': 'continue', 'timeouts.heartbeat-ms': 1500, 'checkpoints.state-every-seconds': 0 };
    const folder = join(home(), 'mute');
    const start = launch(trainArguments('blobs', folder, { ...options, ...own }), 2);
    const first = start(0, 'a');
    const mute = start(1, 'b');
    await first.until(saved);
    for (const pid of processesOf(mute)) process.kill(pid, 'SIGSTOP');
    expect(await first.ended).toBe(0);
    expect(await readRunRecord(folder)).toMatchObject({
      status: 'finished',
      attempts: [{}],
      lostMembers: [{ rank: 1, how: expect.stringContaining('nothing came from it for 1.5 s') }],
    });
    // The node comes back to a launch that is over.
    for (const pid of processesOf(mute)) process.kill(pid, 'SIGCONT');
    expect(await mute.ended).toBe(1);
    const completed = await (await hub().resume(folder, {}, () => undefined, { rank: 1 })).run();
    expect(completed).toMatchObject({ status: 'finished' });
    expect(completed.lostMembers ?? []).toEqual([]);
    const undisturbed = await once(hub(), 'blobs', {
      members: 2,
      devices: 'cpu:0',
      maxEpochs: 100,
      evaluateEveryEpochs: 20,
    });
    expect([0, 1].map((rank) => weights(folder, rank))).toEqual(
      [0, 1].map((rank) => weights(undisturbed.folder, rank)),
    );
  });
});
