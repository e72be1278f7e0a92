import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../../core/protocol/run/config.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { type ResumedTraining, loadTrainingState } from '../../../../workers/training/saved-state.ts';
import { Trainer } from '../../../../workers/training/trainer.ts';
import { createInMemoryGroup } from '../../relay/in-memory-group.ts';
import { type ReportedPoint, temporaryFolder } from './fakes.ts';
import { base, partsOf, strategies } from './two-ranks.ts';

beforeAll(async () => void (await startBackend('cpu')));

/** What both ranks report, by rank, from the state of a round or from the beginning. */
async function pointsOf(input: RunConfigInput, folder: string, fromRound?: number): Promise<ReportedPoint[][]> {
  const ranks = createInMemoryGroup([0, 1]).groups.map((group) => partsOf(input, folder, group));
  const resumed: (ResumedTraining | undefined)[] = [];
  for (const parts of ranks) {
    const from = fromRound === undefined ? null : { round: fromRound, worldSize: 2 };
    resumed.push(from === null ? undefined : await loadTrainingState(parts, from));
  }
  await Promise.all(ranks.map((parts, i) => new Trainer(parts, resumed[i]).fit()));
  return ranks.map(({ report }) => report.points.filter(({ name }) => !name.endsWith('samples_per_second')));
}

function stepOfState(folder: string, rank: number, round: number): number {
  const record = readFileSync(join(folder, 'state', `rank-${rank}`, `round-${round}.json`), 'utf8');
  return (JSON.parse(record) as { step: number }).step;
}

describe.each(Object.entries(strategies))('metrics of %s training', (_, strategy) => {
  it('after a resume equal those of an uninterrupted run, point for point and bit for bit', async () => {
    const input = { ...base, strategy };
    const folder = await temporaryFolder();
    const through = await pointsOf(input, folder);
    const stateSteps = [0, 1].map((rank) => stepOfState(folder, rank, 3));
    // The two newest states are kept: those of rounds 3 and 4, which end epochs 2 and 3.
    const resumed = await pointsOf(input, folder, 3);
    resumed.forEach((points, rank) => {
      expect(points.length).toBeGreaterThan(1);
      expect(points).toEqual(through[rank].filter(({ step }) => step > stateSteps[rank]));
    });
  });
});
