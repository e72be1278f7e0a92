/** A part of the code whose operators are flipped, and the tests closest to it. */
export interface Area {
  name: string;
  /** Files, or folders that end with a slash, relative to the root. */
  sources: string[];
  /** Folders or files of unit tests. They run in this order, before all other tests that import the changed file. */
  nearTests: string[];
  /** Tests with worker processes. They do not import the code that these processes run. */
  integrationTests: string[];
}

export const areas: readonly Area[] = [
  {
    name: 'metrics',
    sources: ['core/metrics/'],
    nearTests: ['test/unit/metrics/'],
    integrationTests: ['test/integration/cli.test.ts', 'test/integration/cli-runs.test.ts'],
  },
  {
    name: 'strategies',
    sources: ['workers/strategies/', 'workers/training/'],
    nearTests: ['test/unit/strategies/', 'test/unit/training/', 'test/unit/whole-runs/wasm.test.ts'],
    integrationTests: [
      'test/integration/strategies/data-parallel.test.ts',
      'test/integration/strategies/joint.test.ts',
      'test/integration/strategies/coupled.test.ts',
      'test/integration/strategies/hdet.test.ts',
      'test/unit/optimizers/optimizers-wasm.test.ts',
      'test/integration/lifecycle/restarts.test.ts',
      'test/integration/lifecycle/control.test.ts',
      'test/integration/lifecycle/live-changes.test.ts',
      'test/integration/strategies/early-stopping.test.ts',
    ],
  },
  {
    name: 'collectives',
    sources: ['workers/collectives/', 'core/protocol/wire/reduce.ts', 'src-main/relay/'],
    nearTests: ['test/unit/collectives/', 'test/unit/relay/'],
    integrationTests: [
      'test/integration/strategies/data-parallel.test.ts',
      'test/integration/strategies/joint.test.ts',
      'test/integration/data-modes.test.ts',
      'test/integration/large-collectives.test.ts',
      'test/integration/lifecycle/live-changes.test.ts',
      'test/integration/lifecycle/worker-death.test.ts',
    ],
  },
  {
    name: 'store',
    sources: ['src-main/store/', 'workers/checkpoints/'],
    nearTests: ['test/unit/store/', 'test/unit/checkpoints/'],
    integrationTests: ['test/integration/lifecycle/restarts.test.ts', 'test/integration/lifecycle/hub-death.test.ts'],
  },
  {
    name: 'studies',
    sources: ['core/studies/', 'core/protocol/studies/', 'src-main/studies/', 'src-main/campaigns/'],
    nearTests: ['test/unit/studies/', 'test/unit/campaigns/', 'test/unit/rpc/studies.test.ts'],
    integrationTests: ['test/integration/studies/search.test.ts', 'test/integration/studies/pruners.test.ts'],
  },
  {
    name: 'postprocessing',
    sources: ['core/postprocessing/', 'workers/postprocessing/'],
    nearTests: ['test/unit/postprocessing/', 'test/unit/inference/', 'test/unit/rpc/postprocessing.test.ts'],
    integrationTests: ['test/integration/parts.test.ts'],
  },
  {
    name: 'ensemble',
    sources: ['core/ensemble/', 'workers/inference/'],
    nearTests: ['test/unit/inference/', 'test/unit/serving/', 'test/unit/predictions/', 'test/unit/postprocessing/'],
    integrationTests: ['test/integration/parts.test.ts', 'test/integration/serve.test.ts'],
  },
  {
    name: 'data',
    sources: ['workers/data/'],
    nearTests: ['test/unit/data/', 'test/unit/discovery/', 'test/unit/project/', 'test/unit/inference/'],
    integrationTests: ['test/integration/tables.test.ts', 'test/integration/data-modes.test.ts'],
  },
  {
    name: 'kernels',
    sources: ['workers/kernels/assembly/', 'workers/backends/wasm/', 'workers/tensorflow/gradients.ts'],
    nearTests: [
      'test/unit/backends/op-matrix/wasm.test.ts',
      'test/unit/backends/kernels/gemm.test.ts',
      'test/unit/backends/',
    ],
    integrationTests: ['test/unit/optimizers/optimizers-wasm.test.ts', 'test/integration/cnn.test.ts'],
  },
];

/** Kernel sources are compiled to a module, which tests reach through the file that loads it. */
export const kernelSources = 'workers/kernels/assembly/';
export const kernelLoader = 'workers/backends/wasm/kernel-module.ts';

/** @throws Error if a name is not an area's */
export function findAreas(names: readonly string[]): Area[] {
  return names.map((name) => {
    const area = areas.find((area) => area.name === name);
    if (area !== undefined) return area;
    throw new Error(`--areas ${name}: an area is one of ${areas.map((area) => area.name).join(', ')}.`);
  });
}
