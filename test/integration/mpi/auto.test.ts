import { join } from 'node:path';
import { expect, it } from 'vitest';
import { noPermissions } from '../../../core/protocol/run/permissions.ts';
import { readEvents } from '../../../src-main/store/runs/run-folder.ts';
import { allowPermissions } from '../../../src-main/trust/project-trust.ts';
import { noOpenMpi } from '../../environment/mpi.ts';
import { notRun } from '../../environment/reasons.ts';
import { mergedMetrics, projectFolder, readCheckpointRecord, useHub } from '../harness.ts';
import { trainArguments } from '../nodes/launch.ts';
import { startOnNodes } from './launch.ts';

const { home } = useHub();

/** @param setUp of each task, in a shell @returns the run's folder, and what it tells of its arrays */
async function train(name: string, setUp: string): Promise<{ folder: string; told: string[] }> {
  const folder = join(home(), name);
  const options = { members: 2, devices: 'cpu:0', 'max-epochs': 2, strategy: 'joint' };
  const run = startOnNodes(2, trainArguments('blobs', folder, options), setUp);
  expect(await run.ended, run.lines.join('\n')).toBe(0);
  const events = await readEvents(folder);
  return { folder, told: events.filter(({ kind }) => kind === 'large-arrays').map(({ message }) => message) };
}

it.skipIf(noOpenMpi !== null)(
  `tasks of mpirun on two nodes exchange arrays by MPI without being asked, and through the hub to the same bits if one has no library${notRun(noOpenMpi)}`,
  async () => {
    await allowPermissions(projectFolder('blobs'), { ...noPermissions, network: true });
    const byMpi = await train('by-mpi', 'true');
    expect(byMpi.told).toEqual([expect.stringMatching(/^Arrays go by MPI: Open MPI v\S+, 2 processes\.$/)]);
    const relayed = await train('relayed', '[ $TUTTI_NODE = node0 ] || export TUTTI_MPI_LIBRARY=libnone.so');
    expect(relayed.told).toEqual([
      expect.stringMatching(
        /^Arrays go through the hub, although a launcher of MPI has started the tasks: on node1, task 1: it cannot use MPI: No MPI library can be used: libnone\.so: /,
      ),
    ]);
    const weights = [byMpi, relayed].map(({ folder }) =>
      [0, 1].map((rank) => readCheckpointRecord(folder, rank, 'final').sha256),
    );
    expect(weights[0]).toEqual(weights[1]);
    expect(await mergedMetrics(byMpi.folder)).toEqual(await mergedMetrics(relayed.folder));
  },
);
