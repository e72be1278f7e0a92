import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEvents, readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { noCluster } from '../../environment/mpi.ts';
import { notRun } from '../../environment/reasons.ts';
import { mergedMetrics, readCheckpointRecord, trainOnce, useHub } from '../harness.ts';
import { type LaunchedTask, torchrun, trainArguments, tutti, watchProcess } from '../nodes/launch.ts';

const scripts = join(import.meta.dirname, '../../cluster');
const name = `t${process.pid}`;
const network = (action: string, ...args: string[]): void =>
  void execFileSync(join(scripts, 'network.sh'), [action, name, ...args]);

/** Starts `tutti train` by mpirun, a task on each node. */
function trainOnNodes(folder: string, options: Record<string, string | number>): LaunchedTask {
  const mca = Object.entries({
    plm_rsh_agent: join(scripts, 'enter.sh'),
    btl_tcp_if_include: 'eth0',
    oob_tcp_if_include: 'eth0',
    mpi_yield_when_idle: '1',
  }).flatMap(([key, value]) => ['--mca', key, value]);
  const passed = ['TUTTI_CLUSTER', 'TUTTI_HOME', 'TUTTI_TRUST'].flatMap((variable) => ['-x', variable]);
  const mpirun = [
    'mpirun',
    '--allow-run-as-root',
    '--host',
    '10.77.0.1,10.77.0.2',
    '--bind-to',
    'none',
    ...mca,
    ...passed,
  ];
  const command = [...mpirun, '-n', '2', process.execPath, '--disable-warning=ExperimentalWarning', tutti];
  const flags = { members: 2, devices: 'cpu:0', strategy: 'data-parallel', 'hidden-units': 20_000, collectives: 'mpi' };
  const args = trainArguments('blobs', folder, { ...flags, ...options });
  return watchProcess(['ip', 'netns', 'exec', `${name}-1`, ...command, ...args], { TUTTI_CLUSTER: name });
}

const { hub, home } = useHub();
const once = trainOnce();

describe.skipIf(noCluster !== null)(`two nodes with a network between them${notRun(noCluster)}`, () => {
  beforeAll(() => network('up', '2'));
  afterAll(() => network('down'));

  it('train over a slow link to the bits of one machine', async () => {
    const alone = await once(hub(), 'blobs', {
      members: 2,
      devices: 'cpu:0',
      maxEpochs: 2,
      strategy: { kind: 'data-parallel' },
      hyperparameters: { hiddenUnits: 20_000 },
    });
    network('slow', '2', '200mbit');
    const folder = join(home(), 'slow');
    const run = trainOnNodes(folder, { 'max-epochs': 2 });
    expect(await run.ended, run.lines.join('\n')).toBe(0);
    const weights = (of: string): string => readCheckpointRecord(of, 0, 'final').sha256;
    expect(weights(folder)).toBe(weights(alone.folder));
    const { plan } = await readRunRecord(folder);
    expect(plan[1].device.node?.name).toBe('node2');
    const messages = (await readEvents(folder)).map(({ message }) => message);
    expect(messages).toContainEqual(expect.stringMatching(/^Arrays go by MPI: Open MPI v\S+, 2 processes\.$/));
  });

  it('end on the first node, and name the other, if its link is cut', async () => {
    const folder = join(home(), 'cut');
    const options = { 'max-epochs': 5000, 'on-member-loss': 'stop', 'timeouts.heartbeat-ms': 2000 };
    const run = trainOnNodes(folder, options);
    await run.until((line) => line.includes('"type":"progress"') && !line.includes('"step":0,'));
    network('cut', '2');
    await run.until((line) => line.includes('"type":"ended"'));
    // mpirun itself would wait for its daemon on the other node, whose processes have no hub any more.
    for (const node of ['1', '2']) network('kill', node);
    await run.ended;
    const { status, error } = await readRunRecord(folder);
    expect(status).toBe('failed');
    expect(error).toMatchObject({ rank: 1, device: 'node2/cpu:0' });
    network('mend', '2');
  });

  it('continue on the first if the link of the second is cut, with the bits of an undisturbed run', async () => {
    const folder = join(home(), 'moved');
    const own = { 'max-epochs': 150, 'evaluate-every-epochs': 50, 'timeouts.heartbeat-ms': 3000 };
    const flags = { members: 2, devices: 'cpu:0', strategy: 'data-parallel', 'checkpoints.state-every-seconds': 0 };
    const args = trainArguments('blobs', folder, { ...flags, ...own });
    const [first, second] = [1, 2].map((node) => {
      const command = [process.execPath, '--disable-warning=ExperimentalWarning', tutti, ...args];
      const variables = { ...torchrun(node - 1, 2, 1), MASTER_ADDR: '10.77.0.1', TUTTI_JOB: 'cut' };
      return watchProcess(['ip', 'netns', 'exec', `${name}-${node}`, ...command], {
        ...variables,
        TUTTI_NODE: `node${node}`,
      });
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
