import { bubbleFraction } from '../../core/pipeline/schedule.ts';
import { trainDeep } from '../deep/train.ts';
import { type Figure, figure } from '../figures.ts';

const batchSize = 1024;
const steps = 20;
/** With the last one, which has 10 units. */
const layers = 16;
const network = [
  '--layers',
  String(layers - 1),
  '--units',
  '256',
  '--samples',
  String(batchSize * steps),
  '--batch-size',
  String(batchSize),
];
const turns = 3;

/** A pipeline of S stages and P micro-batches; with one stage, one process that computes the same micro-batches. */
interface Variant {
  stages: number;
  parts: number;
  schedule: '1f1b' | 'gpipe';
}

const whole: Variant = { stages: 1, parts: 1, schedule: '1f1b' };
const spread: Variant[] = [
  { stages: 2, parts: 4, schedule: '1f1b' },
  { stages: 2, parts: 8, schedule: '1f1b' },
  { stages: 2, parts: 8, schedule: 'gpipe' },
  { stages: 2, parts: 16, schedule: '1f1b' },
  { stages: 4, parts: 8, schedule: '1f1b' },
  { stages: 4, parts: 8, schedule: 'gpipe' },
];
const alone = [4, 8, 16].map((parts): Variant => ({ ...whole, parts }));

/**
 * Samples per second of pipelines beside one process, measured in turns, and the share of time in which two ranks wait
 * for each other.
 */
export async function measureThroughput(note: (message: string) => void): Promise<Figure[]> {
  const variants = [whole, ...alone, ...spread];
  const times = new Map<Variant, number[]>(variants.map((variant) => [variant, []]));
  for (let turn = 0; turn < turns; turn++) {
    for (const variant of variants) {
      note(`throughput, turn ${turn + 1} of ${turns}: ${nameOf(variant)}`);
      times.get(variant)?.push(await fastestStepMs(variant));
    }
  }
  // The fastest step: other work on the machine only adds time.
  const stepMs = (variant: Variant): number => Math.min(...(times.get(variant) ?? []));
  const of = (name: string, value: number, unit: string): Figure =>
    figure({ suite: 'pipeline', name, value, unit, better: unit === 'share' ? 'lower' : 'higher', target: null });
  return [
    of(nameOf(whole), (1000 * batchSize) / stepMs(whole), 'samples/s'),
    ...alone.map((variant) => of(`${nameOf(variant)} over whole batches`, stepMs(whole) / stepMs(variant), 'x')),
    ...spread.flatMap((variant) => {
      const same = alone.find(({ parts }) => parts === variant.parts) ?? whole;
      const gain = stepMs(same) / stepMs(variant);
      const name = nameOf(variant);
      const throughput = of(`${name} over one process with whole batches`, stepMs(whole) / stepMs(variant), 'x');
      if (variant.stages > 2) return [throughput];
      const ideal = bubbleFraction(variant.stages, variant.parts);
      return [
        throughput,
        of(`${name}: waiting, ${ideal.toFixed(2)} with equal stages`, 1 - gain / variant.stages, 'share'),
      ];
    }),
  ];
}

function nameOf({ stages, parts, schedule }: Variant): string {
  if (stages === 1) return parts === 1 ? 'one process' : `one process, ${parts} micro-batches`;
  return `${stages} stages, ${parts} micro-batches, ${schedule === 'gpipe' ? 'GPipe' : '1F1B'}`;
}

async function fastestStepMs({ stages, parts, schedule }: Variant): Promise<number> {
  const cuts = Array.from({ length: stages - 1 }, (_, cut) => `dense_${((cut + 1) * layers) / stages}`);
  const place = ['--members', String(stages), '--devices', stages === 1 ? 'cpu:0' : 'cpu:0,1'];
  const equal = cuts.length === 0 ? [] : ['--strategy.cuts', JSON.stringify(cuts)];
  const how = ['--strategy.micro-batches', String(parts), '--strategy.schedule', schedule];
  const training = await trainDeep([...network, ...place, '--strategy', 'pipeline', ...how, ...equal]);
  return training.fastestStepMs;
}
