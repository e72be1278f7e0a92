import { expect, it } from 'vitest';
import { noMpich, noOpenMpi } from '../../environment/mpi.ts';
import { notRun } from '../../environment/reasons.ts';
import { expectCollectives } from './expect-collectives.ts';
import { launch } from './launch.ts';

for (const { launcher, nodes, what, obstacle } of [
  { launcher: 'Open MPI', nodes: '0123', what: '4 nodes with a rank each', obstacle: noOpenMpi },
  { launcher: 'Open MPI', nodes: '01001', what: '3 and 2 ranks of two nodes, in turns', obstacle: noOpenMpi },
  { launcher: 'MPICH', nodes: '000', what: '3 ranks of one node', obstacle: noMpich },
  { launcher: 'MPICH', nodes: '012', what: '3 nodes with a rank each', obstacle: noMpich },
] as const) {
  it.skipIf(obstacle !== null)(
    `${launcher}, ${what}, get the values by hand, and the bits of the relay${notRun(obstacle)}`,
    async () => {
      await expectCollectives(launcher, nodes, async (script) => {
        expect(await launch(launcher, nodes.length, script)).toEqual({ code: 0, signal: null, output: '' });
      });
    },
  );
}
