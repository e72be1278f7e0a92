import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readEvents, readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { noCluster, noMpich } from '../../environment/mpi.ts';
import { notRun } from '../../environment/reasons.ts';
import { mergedMetrics, readCheckpointRecord, trainOnce, useHub } from '../harness.ts';
import { torchrun, trainArguments, tutti } from '../nodes/launch.ts';
import { expectCollectives } from './expect-collectives.ts';
import type { Launcher } from './launch.ts';
import { network, pidsOn, startOn, startOnCluster, startTuttiOnCluster, useNodes, waitingPackets } from './cluster.ts';

const { hub, home } = useHub();
const once = trainOnce();
const fourNodes = [1, 2, 3, 4];

/** Four ranks, with half a megabyte of gradients. */
const flags = { members: 4, devices: 'cpu:0', strategy: 'data-parallel', collectives: 'mpi', 'hidden-units': 20_000 };

/** Trains by MPI on nodes, to the bits of one machine. @returns the run's folder */
async function trainToTheBitsOfOneMachine(launcher: Launcher, nodes: string): Promise<string> {
  const alone = await once(hub(), 'blobs', {
    members: 4,
    devices: 'cpu:0',
    maxEpochs: 4,
    strategy: { kind: 'data-parallel' },
    hyperparameters: { hiddenUnits: 20_000 },
  });
  const folder = join(home(), `${launcher}-${nodes}`.replaceAll(' ', ''));
  const run = startTuttiOnCluster(launcher, nodes, trainArguments('blobs', folder, { ...flags, 'max-epochs': 4 }));
  expect(await run.ended, run.lines.join('\n')).toBe(0);
  expect(await mergedMetrics(folder)).toEqual(await mergedMetrics(alone.folder));
  const weights = (of: string): string => readCheckpointRecord(of, 0, 'final').sha256;
  expect(weights(folder)).toBe(weights(alone.folder));
  const events = await readEvents(folder);
  const library = new RegExp(`^Arrays go by MPI: ${launcher} v?\\d\\S+, 4 processes\\.$`);
  expect(events.map(({ message }) => message)).toContainEqual(expect.stringMatching(library));
  expect(events.filter(({ kind }) => kind === 'rank-slow' || kind === 'lost')).toEqual([]);
  return folder;
}

describe.skipIf(noCluster !== null)(`nodes with a network between them${notRun(noCluster)}`, () => {
  useNodes(4);

  for (const { launcher, nodes, obstacle } of [
    { launcher: 'Open MPI', nodes: '0011', obstacle: null },
    { launcher: 'MPICH', nodes: '0123', obstacle: noMpich },
  ] as const) {
    it.skipIf(obstacle !== null)(
      `get from collectives the bits of the relay: ${launcher}, ranks on nodes ${nodes}${notRun(obstacle)}`,
      async () => {
        await expectCollectives(launcher, nodes, async (script) => {
          const { ended, lines } = startOnCluster(launcher, nodes, script);
          expect(await ended, lines.join('\n')).toBe(0);
        });
      },
    );
  }

  it.skipIf(noMpich !== null)(
    `train on two nodes with two ranks each to the bits of one machine: MPICH${notRun(noMpich)}`,
    async () => {
      const folder = await trainToTheBitsOfOneMachine('MPICH', '0011');
      const { plan } = await readRunRecord(folder);
      expect(plan.map(({ device }) => device.node?.task)).toEqual([0, 1, 2, 3]);
      expect(plan.slice(2).map(({ device }) => device.id)).toEqual(['node2/cpu:0', 'node2.1/cpu:0']);
    },
  );

  it('train on four nodes, one with a slow link, to the bits of one machine: Open MPI', async () => {
    network('slow', '4', '5mbit');
    const folder = await trainToTheBitsOfOneMachine('Open MPI', '0123');
    expect(waitingPackets(4)).toBeGreaterThan(0);
    network('mend', '4');
    const { plan } = await readRunRecord(folder);
    expect(plan.slice(1).map(({ device }) => device.node?.name)).toEqual(['node2', 'node3', 'node4']);
  });

  it('end on the first node, and name the others, if two of four are cut off, and leave no process on any node', async () => {
    const folder = join(home(), 'parted');
    const options = { ...flags, 'max-epochs': 50_000, 'on-member-loss': 'stop', 'timeouts.heartbeat-ms': 2000 };
    const run = startTuttiOnCluster('Open MPI', '0123', trainArguments('blobs', folder, options));
    await run.until((line) => line.includes('"type":"progress"') && !line.includes('"step":0,'));
    network('part', '3', '4');
    expect(await run.ended).not.toBe(0);
    const { status, error } = await readRunRecord(folder);
    expect(status).toBe('failed');
    const [first, second] = error?.rank === 2 ? ['node3', 'node4'] : ['node4', 'node3'];
    expect(error?.device).toBe(`${first}/cpu:0`);
    expect(error?.message).toContain(`was lost with its node ${first} `);
    expect(error?.message).toContain(`Also lost: ${second}.`);
    await expect.poll(() => fourNodes.flatMap(pidsOn)).toEqual([]);
    for (const node of ['3', '4']) network('mend', node);
  });

  it('continue on the first if the link of the second is cut, with the bits of an undisturbed run', async () => {
    const folder = join(home(), 'moved');
    const own = { 'max-epochs': 150, 'evaluate-every-epochs': 50, 'timeouts.heartbeat-ms': 3000 };
    const flags = { members: 2, devices: 'cpu:0', strategy: 'data-parallel', 'checkpoints.state-every-seconds': 0 };
    const args = trainArguments('blobs', folder, { ...flags, ...own });
    const [first, second] = [1, 2].map((node) => {
      const command = [process.execPath, '--disable-warning=ExperimentalWarning', tutti, ...args];
      const variables = { ...torchrun(node - 1, 2, 1), MASTER_ADDR: '10.77.0.1', TUTTI_JOB: 'cut' };
      return startOn(node, command, { ...variables, TUTTI_NODE: `node${node}` });
    });
    await first.until((line) => line.includes('"type":"checkpoint"'));
    network('cut', '2');
    expect(await first.ended).toBe(0);
    // A node that hears nobody gives up.
    expect(await second.ended).toBe(1);
    const moved = (await readEvents(folder)).filter(({ kind }) => kind === 'ranks-moved');
    expect(moved.map(({ message }) => message)).toEqual(['Their node is gone, so ranks move: rank 1 to node1/cpu:0.']);
    const config = { members: 2, devices: 'cpu:0', maxEpochs: 150, evaluateEveryEpochs: 50 };
    const undisturbed = await once(hub(), 'blobs', { ...config, strategy: { kind: 'data-parallel' } });
    expect(await mergedMetrics(folder)).toEqual(await mergedMetrics(undisturbed.folder));
  });
});
