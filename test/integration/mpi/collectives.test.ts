import { expect, it } from 'vitest';
import { notSetUp } from '../../environment/mpi-releases.ts';
import { noMpich, noOpenMpi, obstacle as noMpi } from '../../environment/mpi.ts';
import { notRun } from '../../environment/reasons.ts';
import { expectCollectives } from './expect-collectives.ts';
import { launch } from './launch.ts';

for (const { launcher, library, nodes, what, obstacle } of [
  { launcher: 'Open MPI', library: 'Open MPI', nodes: '0123', what: '4 nodes with a rank each', obstacle: noOpenMpi },
  {
    launcher: 'Open MPI',
    library: 'Open MPI',
    nodes: '01001',
    what: '3 and 2 ranks of two nodes, in turns',
    obstacle: noOpenMpi,
  },
  { launcher: 'MPICH', library: 'MPICH', nodes: '000', what: '3 ranks of one node', obstacle: noMpich },
  { launcher: 'MPICH', library: 'MPICH', nodes: '012', what: '3 nodes with a rank each', obstacle: noMpich },
  {
    launcher: 'Open MPI 5',
    library: 'Open MPI v5',
    nodes: '001',
    what: '2 ranks of a node and 1 of another',
    obstacle: noMpi ?? notSetUp('Open MPI 5'),
  },
  {
    launcher: 'MPI-5 ABI',
    library: 'MPICH 5',
    nodes: '001',
    what: '2 ranks of a node and 1 of another',
    obstacle: noMpi ?? notSetUp('MPI-5 ABI'),
  },
] as const) {
  it.skipIf(obstacle !== null)(
    `${launcher}, ${what}, get the values by hand, and the bits of the relay${notRun(obstacle)}`,
    async () => {
      await expectCollectives(library, nodes, async (script) => {
        expect(await launch(launcher, nodes.length, script)).toEqual({ code: 0, signal: null, output: '' });
      });
    },
  );
}
