import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { readEvents, readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { noOpenMpi } from '../../environment/mpi.ts';
import { notRun } from '../../environment/reasons.ts';
import { useHub } from '../harness.ts';
import { trainArguments } from '../nodes/launch.ts';
import { launchTutti } from './launch.ts';

const { home } = useHub();

it.skipIf(noOpenMpi !== null)(
  `a library that is missing fails the run, with its name${notRun(noOpenMpi)}`,
  async () => {
    vi.stubEnv('TUTTI_MPI_LIBRARY', '/nowhere/libmpi.so.40');
    const folder = join(home(), 'missing');
    const options = { members: 2, devices: 'cpu:0', strategy: 'joint', 'max-epochs': 1, collectives: 'mpi' };
    const { code } = await launchTutti(2, trainArguments('blobs', folder, options));
    expect(code).not.toBe(0);
    const { status, error } = await readRunRecord(folder);
    expect(status).toBe('failed');
    expect(error?.message).toMatch(/^No MPI library can be used: .*or set TUTTI_MPI_LIBRARY to the library's path\.$/);
    expect(error?.device).toMatch(/cpu:0$/);
    expect((await readEvents(folder)).map(({ kind }) => kind)).not.toContain('restarted');
  },
);
