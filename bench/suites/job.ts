import { join } from 'node:path';
import { z } from 'zod';
import { type CommandRun, runTrainCommand } from '../command.ts';
import { type Figure, figure, type Suite } from '../figures.ts';

const example = join(import.meta.dirname, '..', '..', 'examples', '00_heteroscedastic_regression');
const progressSchema = z.looseObject({ rank: z.int(), step: z.int(), memoryBytes: z.number() });

/** Example 00 as a whole job, from the command to its end, with its defaults. */
export const suite: Suite = {
  name: 'job',
  async run(note) {
    note('a warm-up, which fills the cache of compiled code');
    await runTrainCommand([example, '--max-epochs', '100']);
    note('example 00 with its defaults');
    return figuresOf(await runTrainCommand([example]));
  },
};

function figuresOf({ durationMs, lines, hubPeakBytes }: CommandRun): Figure[] {
  const progress = lines
    .filter(({ update }) => update.type === 'progress')
    .map(({ afterMs, update }) => ({ afterMs, ...progressSchema.parse(update) }));
  const firstStepMs = progress.find(({ step }) => step >= 1)?.afterMs ?? NaN;
  const lastStep = Math.max(...progress.map(({ step }) => step));
  const peakAt = (from: number, to: number) =>
    Math.max(
      ...progress.filter(({ step }) => step > from * lastStep && step <= to * lastStep).map((p) => p.memoryBytes),
    );
  const growth = (peakAt(0.8, 1) - peakAt(0.2, 0.4)) / 1e6;
  const of = (name: string, value: number, unit: string, target: number | null): Figure =>
    figure({ suite: 'job', name, value, unit, better: 'lower', target });
  return [
    of('example 00 with defaults, command to end', durationMs / 1000, 's', 60),
    of('example 00, command to first training step', firstStepMs / 1000, 's', 2.5),
    of('worker, peak resident memory while training', peakAt(0, 1) / 1e6, 'MB', 150),
    of('worker, growth of the peak from the second to the last fifth', growth, 'MB', null),
    of('hub, peak resident memory', hubPeakBytes / 1e6, 'MB', 200),
  ];
}
