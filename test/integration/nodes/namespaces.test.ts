import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { readEvents, readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { enterScript, Namespaces, noNamespaces } from '../../cluster/namespaces.ts';
import { noOpenMpi } from '../../environment/mpi.ts';
import { notRun } from '../../environment/reasons.ts';
import { mergedMetrics, readCheckpointRecord, trainOnce, useHub } from '../harness.ts';
import { torchrun, trainArguments, tutti, watchProcess } from './launch.ts';

const { hub, home } = useHub();
const once = trainOnce();
const program = [process.execPath, '--disable-warning=ExperimentalWarning', tutti];

/** A group that exchanges at every step, until after it has lost a rank. */
const config: RunConfigInput = {
  members: 2,
  devices: 'cpu:0',
  maxEpochs: 150,
  evaluateEveryEpochs: 50,
  strategy: { kind: 'data-parallel' },
  checkpoints: { stateEverySeconds: 0 },
};
const flags = {
  members: 2,
  devices: 'cpu:0',
  'max-epochs': 150,
  'evaluate-every-epochs': 50,
  strategy: 'data-parallel',
  'checkpoints.state-every-seconds': 0,
};

describe.skipIf(noNamespaces !== null)(`two nodes with a network between them${notRun(noNamespaces)}`, () => {
  let nodes: Namespaces;
  beforeAll(() => {
    nodes = new Namespaces(2);
  });
  afterAll(() => nodes.close());

  async function expectUndisturbed(folder: string): Promise<void> {
    const undisturbed = await once(hub(), 'blobs', config);
    expect(await mergedMetrics(folder)).toEqual(await mergedMetrics(undisturbed.folder));
    const weights = (of: string): string => readCheckpointRecord(of, 0, 'final').sha256;
    expect(weights(folder)).toBe(weights(undisturbed.folder));
  }

  it.skipIf(noOpenMpi !== null)(`exchange arrays by MPI to the bits of one machine${notRun(noOpenMpi)}`, async () => {
    const folder = join(home(), 'mpi');
    const mpirun = [
      'mpirun',
      ...['--host', '10.77.0.1:1,10.77.0.2:1', '-n', '2', '--mca', 'plm_rsh_agent', enterScript],
      ...['--mca', 'btl_tcp_if_include', 'eth0', '--mca', 'oob_tcp_if_include', 'eth0'],
      ...['-x', 'TUTTI_HOME', '-x', 'TUTTI_TRUST', '-x', 'NODE_COMPILE_CACHE'],
    ];
    const command = [...mpirun, ...program, ...trainArguments('blobs', folder, { ...flags, collectives: 'mpi' })];
    const job = watchProcess(nodes.on(1, command), {
      TUTTI_CLUSTER: nodes.name,
      OMPI_ALLOW_RUN_AS_ROOT: '1',
      OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
    });
    expect(await job.ended).toBe(0);
    const { plan } = await readRunRecord(folder);
    expect(plan.map(({ device }) => device.id)).toEqual(['node1/cpu:0', 'node2/cpu:0']);
    await expectUndisturbed(folder);
  });

  it('continue on the first when the link of the second is cut, to the bits of an undisturbed run', async () => {
    const folder = join(home(), 'cut');
    const args = trainArguments('blobs', folder, { ...flags, 'timeouts.heartbeat-ms': 3000 });
    const [first, second] = [1, 2].map((node) => {
      const variables = { ...torchrun(node - 1, 2, 1), MASTER_ADDR: '10.77.0.1', TUTTI_JOB: 'cut' };
      return watchProcess(nodes.on(node, [...program, ...args]), variables);
    });
    await first.until((line) => line.includes('"type":"checkpoint"'));
    nodes.cut(2);
    expect(await first.ended).toBe(0);
    // A node that hears nobody gives up.
    expect(await second.ended).toBe(1);
    const messages = (await readEvents(folder)).flatMap(({ kind, message }) =>
      kind === 'ranks-moved' ? [message] : [],
    );
    expect(messages).toEqual(['Their node is gone, so ranks move: rank 1 to node1/cpu:0.']);
    await expectUndisturbed(folder);
  });
});
