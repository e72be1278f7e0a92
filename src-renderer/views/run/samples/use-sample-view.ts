import { computed, type ComputedRef, type Ref, ref, shallowRef, watch } from 'vue';
import { useQueryParameters } from '../../../composables/use-query.ts';
import { placesBy, type SampleScore, sampleScores, type SampleTable } from './sample-table.ts';
import { type InputPart, type InputsRequest, maximumInputs } from '../../../../core/ensemble/sample-inputs.ts';
import { messageOf } from '../../../../core/text/errors.ts';
import { useHub } from '../../../client/use-hub.ts';

const rowsPerPage = 20;

export interface SampleView {
  choice: ComputedRef<SampleChoice>;
  /** Rows that are listed, on all pages. */
  places: ComputedRef<Int32Array>;
  /** Those of the page. */
  pagePlaces: ComputedRef<Int32Array>;
  /** From 1. */
  page: ComputedRef<number>;
  pages: ComputedRef<number>;
  /** Position of the page's first row among those that are listed. */
  first: ComputedRef<number>;
  /** The open row; null for none. */
  selected: ComputedRef<number | null>;
  /** Lists others, from their first page. */
  choose(changes: Partial<SampleChoice>): void;
  turnTo(page: number): void;
  /** Opens a row on its page; null closes it. */
  select(place: number | null): void;
  /** Opens the row after (1) or before (-1) the open one; the page's first if none is open. */
  step(by: 1 | -1): void;
}

/** The listed samples, their page and the open one, all in the address. */
export function useSampleView(table: () => SampleTable | null, hasDisagreement: () => boolean): SampleView {
  const { values: query, change } = useQueryParameters({
    samples: 'uncertainty.1',
    sample: '',
    wrong: '',
    label: '',
    predicted: '',
  });

  const choice = computed((): SampleChoice => {
    const order = orderOf(query.value.samples, hasDisagreement());
    const names = table()?.classes?.names ?? [];
    const classNamed = (name: string): number | null => (names.includes(name) ? names.indexOf(name) : null);
    return {
      order,
      isWrongOnly: query.value.wrong === '1',
      label: classNamed(query.value.label),
      predicted: classNamed(query.value.predicted),
    };
  });
  const places = computed(() => {
    const own = table();
    return own === null ? new Int32Array(0) : shownPlaces(own, choice.value);
  });
  const pages = computed(() => Math.max(1, Math.ceil(places.value.length / rowsPerPage)));
  const page = computed(() => {
    const wished = Number(query.value.samples.split('.')[1]);
    return Number.isInteger(wished) ? Math.min(Math.max(wished, 1), pages.value) : 1;
  });
  const first = computed(() => (page.value - 1) * rowsPerPage);
  const pagePlaces = computed(() => places.value.subarray(first.value, first.value + rowsPerPage));
  const selected = computed(() => {
    const place = query.value.sample === '' ? -1 : Number(query.value.sample);
    return Number.isInteger(place) && place >= 0 && place < (table()?.length ?? 0) ? place : null;
  });
  const state = { choice, places, pagePlaces, page, pages, first, selected };
  return { ...state, ...actionsOn(state, change, () => table()?.classes?.names ?? []) };
}

function orderOf(asked: string, hasDisagreement: boolean): SampleChoice['order'] {
  const [name] = asked.split('.');
  if (name === 'disagreement' && !hasDisagreement) return 'uncertainty';
  return ([...sampleScores, 'sample'] as const).find((one) => one === name) ?? 'uncertainty';
}

type Actions = Pick<SampleView, 'choose' | 'turnTo' | 'select' | 'step'>;

function actionsOn(
  { choice, places, page, first, selected }: Omit<SampleView, keyof Actions>,
  change: (query: { samples?: string; sample?: string; wrong?: string; label?: string; predicted?: string }) => void,
  classNames: () => readonly string[],
): Actions {
  function choose(changes: Partial<SampleChoice>): void {
    const { order, isWrongOnly, label, predicted } = { ...choice.value, ...changes };
    const nameOf = (own: number | null): string => (own === null ? '' : classNames()[own]);
    const wrong = isWrongOnly ? '1' : '';
    change({ samples: `${order}.1`, wrong, label: nameOf(label), predicted: nameOf(predicted) });
  }

  function select(place: number | null): void {
    if (place === null) return change({ sample: '' });
    const position = places.value.indexOf(place);
    const own = position < 0 ? page.value : Math.floor(position / rowsPerPage) + 1;
    change({ sample: String(place), samples: `${choice.value.order}.${own}` });
  }

  function step(by: 1 | -1): void {
    const position = selected.value === null ? -1 : places.value.indexOf(selected.value);
    const next = position < 0 ? first.value : position + by;
    if (next >= 0 && next < places.value.length) select(places.value[next]);
  }

  const turnTo = (wished: number): void => change({ samples: `${choice.value.order}.${wished}` });
  return { choose, turnTo, select, step };
}

/** Which samples are listed, and in which order. */
interface SampleChoice {
  /** The score whose largest values come first, or the order of the data. */
  order: SampleScore | 'sample';
  /** Whether only samples are listed that the ensemble classifies wrongly. Of values none is. */
  isWrongOnly: boolean;
  /** The class of all listed samples; null: all classes. */
  label: number | null;
  /** The class for which the ensemble takes all listed samples; null: all classes. */
  predicted: number | null;
}

/** The rows of the table that are listed, in their order. */
export function shownPlaces(table: SampleTable, { order, isWrongOnly, label, predicted }: SampleChoice): Int32Array {
  const all =
    order === 'sample'
      ? Int32Array.from({ length: table.length }, (_, place) => place)
      : placesBy(table.scores[order].values);
  const { classes } = table;
  if (classes === null || (!isWrongOnly && label === null && predicted === null)) return all;
  const { labels, chosen } = classes;
  return all.filter(
    (place) =>
      (!isWrongOnly || chosen[place] !== labels[place]) &&
      (label === null || labels[place] === label) &&
      (predicted === null || chosen[place] === predicted),
  );
}

/** Inputs beyond this number are forgotten, and read again where they are wanted. */
const keptInputs = 400;

interface ShownInputs {
  /** The inputs that have been read, by the samples' places in the split. */
  inputs: Readonly<Ref<ReadonlyMap<number, readonly InputPart[]>>>;
  warnings: Readonly<Ref<readonly string[]>>;
  error: Readonly<Ref<string | null>>;
  isLoading: Readonly<Ref<boolean>>;
  reload(): Promise<void>;
}

/**
 * Reads the inputs of the samples that are wanted.
 * @param wanted null: none, because reading starts a process with the project's code
 */
export function useSampleInputs(id: string, wanted: () => InputsRequest | null): ShownInputs {
  const hub = useHub();
  const inputs = shallowRef<ReadonlyMap<number, readonly InputPart[]>>(new Map());
  const warnings = shallowRef<readonly string[]>([]);
  const error = ref<string | null>(null);
  const isLoading = ref(false);
  let split = '';
  let turn = 0;

  async function reload(): Promise<void> {
    const request = wanted();
    if (request === null) return;
    if (request.split !== split) inputs.value = new Map();
    split = request.split;
    const missing = [...new Set(request.samples)].filter((sample) => !inputs.value.has(sample));
    if (missing.length === 0) return;
    const own = ++turn;
    isLoading.value = true;
    try {
      const found = await hub.sampleInputs(id, { split: request.split, samples: missing.slice(0, maximumInputs) });
      if (own !== turn) return;
      const before = inputs.value.size < keptInputs ? inputs.value : [];
      inputs.value = new Map([...before, ...found.inputs.map(({ sample, parts }) => [sample, parts] as const)]);
      warnings.value = found.warnings;
      error.value = null;
    } catch (reason) {
      if (own === turn) error.value = messageOf(reason);
    }
    if (own === turn) isLoading.value = false;
  }

  watch(
    () => JSON.stringify(wanted()),
    () => void reload(),
    { immediate: true },
  );
  return { inputs, warnings, error, isLoading, reload };
}
