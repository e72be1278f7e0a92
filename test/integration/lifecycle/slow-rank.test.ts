import { expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import type { RunUpdate } from '../../../core/protocol/pages/run-updates.ts';
import { pidOf, pidOnceTraining, startRun, useHub } from '../harness.ts';

const { hub } = useHub();

const isEvent =
  (kind: string) =>
  (update: RunUpdate): boolean =>
    update.type === 'event' && update.event.kind === kind;

it.each(['independent', 'joint'] as const)(
  'a rank that others wait for is named at half of the limit, and once more when it is back (%s)',
  async (kind) => {
    const config: RunConfigInput = {
      members: 2,
      devices: 'cpu:0,1',
      maxEpochs: 1_000_000,
      strategy: { kind },
      timeouts: { collectiveMs: 8000 },
    };
    const run = await startRun(hub(), 'blobs', config);
    await pidOnceTraining(run, 1);
    const pid = pidOf(run.updates, 1);
    process.kill(pid, 'SIGSTOP');
    const slow = await run.until(isEvent('rank-slow'));
    expect(slow).toMatchObject({ event: { rank: 1, attempt: 1 } });
    expect(slow.type === 'event' && slow.event.message).toMatch(
      /^Rank 1 has not come for 4 s, and the others wait for it in all-\w+.*; it counts as hung after 8 s\.$/,
    );
    process.kill(pid, 'SIGCONT');
    expect(await run.until(isEvent('rank-back'))).toMatchObject({ event: { rank: 1, message: 'Rank 1 is back.' } });
    run.session.control({ action: 'stop' });
    expect(await run.ended).toMatchObject({ status: 'stopped', error: null });
  },
);
