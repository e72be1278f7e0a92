import { computed, type ComputedRef, ref, type Ref, shallowRef, watch } from 'vue';
import type { ChosenBatch, DiscoveryView, RoundPrediction } from '../../../core/protocol/pages/discovery-views.ts';
import type { PlotAxis } from '../../charts/scene/axes.ts';
import { useQueryParameter } from '../../composables/use-query.ts';
import { type BatchCalibration, nominalShares } from '../../../core/discovery/calibration.ts';
import type { PlotLine, PointGroup } from '../../charts/scatter/scatter.ts';
import { enrichmentFactor, expectedRandomHits, idealHits } from '../../../core/discovery/progress.ts';
import type { ColorToken } from '../../charts/types.ts';
import { messageOf } from '../../../core/text/errors.ts';
import { useHub } from '../../client/use-hub.ts';

/** The round that the page shows; the address keeps it. Without one it is the last. */
export function useRound(choices: () => readonly ChosenBatch[]): {
  batch: ComputedRef<ChosenBatch>;
  select: (round: number) => void;
} {
  const named = useQueryParameter('round');
  const batch = computed(
    () => choices().find(({ round }) => String(round) === named.value) ?? choices()[choices().length - 1],
  );
  return {
    batch,
    select: (round) => {
      const last = choices().at(-1)?.round;
      // The last round stays the last while the search goes on.
      named.value = round === last ? '' : String(round);
    },
  };
}

/** An axis of rounds, on which a press on a round shows it. */
export function useRoundAxis(view: () => Pick<DiscoveryView, 'choices' | 'search'>): {
  axis: ComputedRef<PlotAxis>;
  hovered: Ref<number | null>;
  pick: (round: number) => void;
} {
  const hovered = ref<number | null>(null);
  const { select } = useRound(() => view().choices);
  const axis = computed(() => ({
    label: 'round',
    scale: { from: -0.3, to: Math.max(1, view().choices.length) + 0.3, isLog: false },
  }));
  return { axis, hovered, pick: select };
}

interface CalibrationFigure {
  groups: PointGroup[];
  lines: PlotLine[];
  yLabel: string;
  help: string;
}

type OfKind<Kind extends BatchCalibration['kind']> = { round: number } & Extract<BatchCalibration, { kind: Kind }>;

const hitHelp =
  'What was predicted of the batch of each round and what came out: the mean predicted probability of a hit, with ' +
  'the standard deviation that the share of hits then has, √(Σ p (1 − p)) / n, and the share of hits. Choosing the ' +
  'largest predictions picks those that are too high, so a share below the prediction is common.';
const valueHelp =
  'Which share of the labels of each batch lies within 1 and 1.96 standard deviations of the prediction (members ' +
  'and noise together). Gaussian predictions that are right give 68.3 % and 95 %.';

/** Predictions of the chosen batches against their labels, over the rounds. */
export function calibrationFigure({ choices }: Pick<DiscoveryView, 'choices'>): CalibrationFigure {
  const ofHits = choices.flatMap(({ round, calibration }) =>
    calibration?.kind === 'hits' ? [{ round, ...calibration }] : [],
  );
  if (ofHits.length > 0) return hitFigure(ofHits);
  return valueFigure(
    choices.flatMap(({ round, calibration }) => (calibration?.kind === 'values' ? [{ round, ...calibration }] : [])),
  );
}

function hitFigure(rounds: OfKind<'hits'>[]): CalibrationFigure {
  const x = rounds.map(({ round }) => round);
  const predicted = rounds.map((own) => own.predicted);
  const observed = rounds.map((own) => own.observed);
  return {
    yLabel: 'probability of a hit',
    help: hitHelp,
    groups: [
      {
        label: 'predicted',
        symbol: 'ring',
        color: 'rank-0',
        ids: x,
        x,
        y: predicted,
        errors: rounds.map(({ error }) => error),
      },
      { label: 'came out', symbol: 'cross', color: 'text', ids: x, x, y: observed },
    ],
    lines: [
      { label: 'predicted', color: 'rank-0', isThin: true, x, y: predicted },
      { label: 'came out', color: 'text', isThin: true, x, y: observed },
    ],
  };
}

function valueFigure(rounds: OfKind<'values'>[]): CalibrationFigure {
  const x = rounds.map(({ round }) => round);
  const ends = [x[0] - 0.5, x[x.length - 1] + 0.5];
  const shares = [
    { key: 'within68', label: 'within 1 deviation', color: 'rank-0', symbol: 'ring' },
    { key: 'within95', label: 'within 1.96 deviations', color: 'rank-1', symbol: 'cross' },
  ] as const;
  return {
    yLabel: 'share of labels',
    help: valueHelp,
    groups: shares.map(({ key, label, color, symbol }) => ({
      label,
      color,
      symbol,
      ids: x,
      x,
      y: rounds.map((own) => own[key]),
    })),
    lines: shares.flatMap(({ key, label, color }): PlotLine[] => [
      { label, color, isThin: true, x, y: rounds.map((own) => own[key]) },
      {
        label: `${Number((100 * nominalShares[key]).toPrecision(3))} %`,
        color,
        dash: '5 4',
        x: ends,
        y: [nominalShares[key], nominalShares[key]],
      },
    ]),
  };
}

type Found = Pick<DiscoveryView, 'arms' | 'pool' | 'search' | 'start'>;

/**
 * The share of hits of each arm after each round; where the pool's hits are known over their share in the pool, the
 * enrichment factor.
 */
export function enrichmentLines({ arms, pool, search, start }: Found): PlotLine[] {
  return arms.map(({ arm, hits }, at) => {
    const ends = roundEnds(hits.length, start.indices.length, search.perRound);
    const y = ends.map((labels) => shareOf(hits[labels - 1] ?? NaN, labels, pool));
    return { label: arm, color: armColor(at), x: ends.map((_, round) => round), y };
  });
}

/** The same of each batch of the first arm alone. */
export function batchShares({ arms: [first], pool, search, start }: Found): PointGroup {
  const { hits } = first;
  const ends = roundEnds(hits.length, start.indices.length, search.perRound);
  const rounds = ends.slice(1).map((_, at) => at + 1);
  const y = rounds.map((round) => {
    const [before, after] = [ends[round - 1], ends[round]];
    return shareOf(hits[after - 1] - (hits[before - 1] ?? 0), after - before, pool);
  });
  return { label: `${first.arm}, each batch`, symbol: 'ring', color: 'text', ids: rounds, x: rounds, y };
}

/** Labels after the start and after each whole round. */
function roundEnds(labels: number, started: number, perRound: number): number[] {
  if (labels < started) return [];
  const whole = Math.ceil((labels - started) / perRound);
  return Array.from({ length: whole + 1 }, (_, round) => Math.min(labels, started + round * perRound));
}

function shareOf(found: number, labels: number, pool: DiscoveryView['pool']): number {
  return pool === null ? found / labels : enrichmentFactor(found, labels, pool);
}

/** A line of hits over labels. */
interface HitLine {
  label: string;
  color: ColorToken;
  /** Dashed lines are computed, not searched. */
  isDashed: boolean;
  /** Labels and hits, both of shape `[L]`. */
  x: Float64Array;
  y: Float64Array;
}

/** The colour of an arm: the chosen acquisition is in ink. */
function armColor(at: number): ColorToken {
  return at === 0 ? 'text' : `rank-${at - 1}`;
}

/** The best label of each arm after each of its labels. */
export function bestLines({ arms, search }: Pick<DiscoveryView, 'arms' | 'search'>): PlotLine[] {
  const better = search.goal.kind === 'minimize' ? Math.min : Math.max;
  return arms.map(({ arm, labels }, at) => {
    let best = NaN;
    const y = labels.map((label) => (best = Number.isNaN(best) ? label : better(best, label)));
    return { label: arm, color: armColor(at), isStep: true, x: labels.map((_, place) => place + 1), y };
  });
}

/**
 * The end of the axis of hits: a little above what the searches found. The ideal would leave them a strip at the
 * bottom.
 */
export function highestHits({ arms }: Pick<DiscoveryView, 'arms'>): number {
  return 1.05 * Math.max(1, ...arms.map(({ hits }) => hits.at(-1) ?? 0));
}

/**
 * The hits of each arm, of labels at random in the mean, and of a search that knew the hits, as far as it fits below
 * {@link highestHits}.
 */
export function hitLines(view: Pick<DiscoveryView, 'arms' | 'pool'>): HitLine[] {
  const { arms, pool } = view;
  const lines = arms.map(({ arm, hits }, at): HitLine => {
    const x = Float64Array.from(hits, (_, i) => i + 1);
    return { label: arm, color: armColor(at), isDashed: false, x, y: Float64Array.from(hits) };
  });
  const most = Math.max(0, ...arms.map(({ hits }) => hits.length));
  if (pool === null || most === 0) return lines;
  const x = Float64Array.from({ length: Math.max(0, most - pool.started + 1) }, (_, i) => pool.started + i);
  const random = x.map((labels) => expectedRandomHits(labels, pool));
  const ideal = x.map((labels) => idealHits(labels, pool)).filter((hits) => hits <= highestHits(view));
  return [
    ...lines,
    { label: 'at random, expected', color: 'rank-6', isDashed: true, x, y: random },
    { label: 'ideal', color: 'rank-7', isDashed: true, x: x.subarray(0, ideal.length), y: ideal },
  ];
}

interface RoundPredictions {
  /** That of the shown round; of the one before until it has arrived. */
  prediction: Readonly<Ref<RoundPrediction | null>>;
  error: Readonly<Ref<string | null>>;
  /** All that were read, so that axes stay the same while rounds change. */
  read: Readonly<Ref<readonly RoundPrediction[]>>;
}

/**
 * What the ensemble of a round predicted. Each round is read once, and again when further candidates have been chosen.
 */
export function useRoundPrediction(id: string, place: () => { round: number; chosenRounds: number }): RoundPredictions {
  const hub = useHub();
  const known = new Map<string, Promise<RoundPrediction>>();
  const byRound = new Map<number, RoundPrediction>();
  const prediction = shallowRef<RoundPrediction | null>(null);
  const read = shallowRef<readonly RoundPrediction[]>([]);
  const error = ref<string | null>(null);
  let turn = 0;

  async function show(round: number, chosenRounds: number): Promise<void> {
    const own = ++turn;
    const key = `${round} ${chosenRounds}`;
    const reading = known.get(key) ?? hub.discoveryRound(id, round);
    known.set(key, reading);
    try {
      const found = await reading;
      byRound.set(round, found);
      read.value = [...byRound.values()];
      if (own !== turn) return;
      prediction.value = found;
      error.value = null;
    } catch (reason) {
      known.delete(key);
      if (own === turn) [prediction.value, error.value] = [null, messageOf(reason)];
    }
  }

  watch(
    place,
    ({ round, chosenRounds }, before) => {
      if (before?.round !== round || before.chosenRounds !== chosenRounds) void show(round, chosenRounds);
    },
    { immediate: true },
  );
  return { prediction, error, read };
}
