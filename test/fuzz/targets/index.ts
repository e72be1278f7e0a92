import type { FuzzTarget } from '../engine/target.ts';

/** Where the targets are: modules are loaded when they are needed, after the product was instrumented. */
const modules = {
  wire: async () => (await import('./wire.ts')).wireTargets,
  calls: async () => [(await import('./calls.ts')).calls],
  requests: async () => (await import('./requests.ts')).requestTargets,
  data: async () => (await import('./data.ts')).dataTargets,
  runFolder: async () => (await import('./run-folder.ts')).runFolderTargets,
  home: async () => (await import('./home.ts')).homeTargets,
  entrances: async () => (await import('./entrances.ts')).entranceTargets,
  discovery: async () => (await import('./discovery.ts')).discoveryTargets,
  search: async () => (await import('./search.ts')).searchTargets,
  writers: async () => (await import('./writers.ts')).writerTargets,
};

/** Faults on purpose, with which the tests of the fuzzer check its judgement. */
const faulty: FuzzTarget[] = [
  {
    name: 'hangs',
    reads: 'nothing: it never returns',
    seeds: async () => [new Uint8Array(1)],
    run: () => {
      for (;;);
    },
  },
];

const defaultMaximumBytes = 2 ** 14;

export type Group = keyof typeof modules | 'faulty';
/** A target with its defaults filled in. */
export type CompleteTarget = Required<Omit<FuzzTarget, 'close'>> & Pick<FuzzTarget, 'close'>;

/** The targets of one group. */
export async function openGroup(group: Group): Promise<CompleteTarget[]> {
  const targets: FuzzTarget[] = group === 'faulty' ? faulty : await modules[group]();
  return targets.map((target) => ({ maximumBytes: defaultMaximumBytes, weight: 1, ...target }));
}

/** All targets, with their groups. */
export async function allTargets(): Promise<{ group: Group; target: CompleteTarget }[]> {
  const groups = Object.keys(modules) as (keyof typeof modules)[];
  const lists = await Promise.all(
    groups.map(async (group) => (await openGroup(group)).map((target) => ({ group, target }))),
  );
  return lists.flat();
}
