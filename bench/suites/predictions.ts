import { execFile } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { Generator } from '../../workers/random/index.ts';
import { type Figure, figure, median, type Suite } from '../figures.ts';

const run = promisify(execFile);
const program = join(import.meta.dirname, '..', 'predictions', 'predict.ts');
const rows = 1_000_000;
const features = 8;
const rounds = 3;

const cases = [
  { units: 64, format: 'csv', target: 0.5 },
  { units: 64, format: 'jsonl', target: 0.5 },
  { units: 256, format: 'csv', target: 0.5 },
];

/** A million rows of a CSV through an ensemble of 8 MLPs to a file, next to the forward passes alone, on one core. */
export const suite: Suite = {
  name: 'predictions',
  async run(note) {
    const folder = await mkdtemp(join(tmpdir(), 'tutti-predictions-'));
    try {
      note(`writing ${rows} rows`);
      const input = join(folder, 'rows.csv');
      await writeRows(input);
      const figures: Figure[] = [];
      for (const { units, format, target } of cases) {
        const name = `${rows} rows of CSV to ${format}, 8 members ${features}-${units}-${units}-1`;
        note(name);
        const args = [input, join(folder, `out.${format}`), format, String(units), String(rows), String(rounds)];
        const { stdout } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', program, ...args]);
        figures.push(
          ...figuresOf(name, target, measuredSchema.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''))),
        );
      }
      return figures;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

const measuredSchema = z.object({
  rounds: z.array(z.object({ forwardMs: z.number(), predictMs: z.number() })),
  residentBytes: z.number(),
});

function figuresOf(name: string, target: number, measured: z.output<typeof measuredSchema>): Figure[] {
  const speeds = measured.rounds.map(({ predictMs }) => rows / predictMs / 1000);
  const ratios = measured.rounds.map(({ forwardMs, predictMs }) => forwardMs / predictMs);
  const of = (value: number, unit: string, bound: number | null): Figure =>
    figure({ suite: 'predictions', name, value, unit, better: 'higher', target: bound });
  const memory = { value: measured.residentBytes / 2 ** 20, unit: 'MiB resident', better: 'lower' as const };
  return [
    of(median(speeds), 'million rows/s', null),
    of(median(ratios), 'x speed of the forward passes', target),
    figure({ suite: 'predictions', name, ...memory, target: 400 }),
  ];
}

async function writeRows(file: string): Promise<void> {
  const handle = await open(file, 'w');
  const generator = new Generator(1, 'bench');
  try {
    await handle.write(`${Array.from({ length: features }, (_, i) => `x${i}`).join(',')}\n`);
    const blockRows = 10_000;
    for (let first = 0; first < rows; first += blockRows) {
      const lines = Array.from({ length: blockRows }, () =>
        Array.from({ length: features }, () => (20 * generator.uniform() - 10).toFixed(5)).join(','),
      );
      await handle.write(`${lines.join('\n')}\n`);
    }
  } finally {
    await handle.close();
  }
}
