/**
 * Which tests `npm test` runs, in at most five minutes on two cores: all of components, all unit tests but the longest,
 * and of those with real processes and pages the ones named here. `npm run test:all` runs all. A new unit test belongs
 * to `npm test`, and another kind to the rest, unless it is named here.
 */

/** Files of unit tests that take more than three seconds of a quiet core. */
export const longUnitTests = [
  'test/unit/backends/definitions/windows.test.ts',
  'test/unit/cli/foreign-text.test.ts',
  'test/unit/collectives/shared-memory.test.ts',
  'test/unit/docs/code-types.test.ts',
  'test/unit/faults/power-loss.test.ts',
  'test/unit/fuzz/engine.test.ts',
  'test/unit/fuzz/properties.test.ts',
  'test/unit/joint/joint-steps.test.ts',
  'test/unit/layers/layers.test.ts',
  'test/unit/onnx/export.test.ts',
  'test/unit/postprocessing/optima.test.ts',
  'test/unit/rpc/bad-calls.test.ts',
  'test/unit/rpc/checkpoints.test.ts',
  'test/unit/rpc/forks.test.ts',
  'test/unit/rpc/live-run.test.ts',
  'test/unit/rpc/projects.test.ts',
  'test/unit/rpc/studies.test.ts',
  'test/unit/rpc/trust.test.ts',
  'test/unit/search/gp.test.ts',
  'test/unit/search/importance.test.ts',
  'test/unit/search/tpe.test.ts',
  'test/unit/server/start.test.ts',
  'test/unit/session/orphan-guard.test.ts',
  'test/unit/stacked/masks-cpu.test.ts',
  'test/unit/stacked/stacks-cpu.test.ts',
  'test/unit/store/metrics/metric-rows.test.ts',
  'test/unit/store/metrics/metrics-index.test.ts',
  'test/unit/store/private-home.test.ts',
  'test/unit/store/runs/damaged-index.test.ts',
  'test/unit/store/runs/hub-lock.test.ts',
  'test/unit/strategies/data-parallel/data-parallel-cpu.test.ts',
  'test/unit/strategies/data-parallel/data-parallel-wasm.test.ts',
  'test/unit/strategies/data-parallel/unreached-weights.test.ts',
  'test/unit/strategies/pipeline/pipeline-cpu.test.ts',
  'test/unit/strategies/pipeline/pipeline-wasm.test.ts',
  'test/unit/strategies/sharded/stages.test.ts',
  'test/unit/studies/driver.test.ts',
  'test/unit/training/loop/hub-gone.test.ts',
  'test/unit/training/loop/lockstep-hub-gone.test.ts',
  'test/unit/training/loop/other-world-size.test.ts',
  'test/unit/training/loop/resumed-metrics.test.ts',
  'test/unit/training/loop/stop-and-resume.test.ts',
  'test/unit/whole-runs/cpu.test.ts',
  'test/unit/whole-runs/wasm.test.ts',
];

/** Each way to start a run, and each strategy once, with real processes. */
export const quickIntegrationTests = [
  'test/integration/backends/optimizers-tensorflow.test.ts',
  'test/integration/backends/tensorflow-ops.test.ts',
  'test/integration/cli.test.ts',
  'test/integration/cnn.test.ts',
  'test/integration/examples/examples.test.ts',
  'test/integration/lifecycle/bad-input.test.ts',
  'test/integration/lifecycle/control.test.ts',
  'test/integration/lifecycle/queue.test.ts',
  'test/integration/lifecycle/remote-control.test.ts',
  'test/integration/mpi/library.test.ts',
  'test/integration/nodes/slurm.test.ts',
  'test/integration/serve.test.ts',
  'test/integration/stream.test.ts',
  'test/integration/studies/many-processes.test.ts',
  'test/integration/tables.test.ts',
  'test/integration/trust/confinement.test.ts',
  'test/integration/whole-runs.test.ts',
];

/** The main pages in Chromium, and the desktop app's start. */
export const quickEndToEndTests = [
  'test/e2e/access.test.ts',
  'test/e2e/desktop/desktop-start.test.ts',
  'test/e2e/frame.test.ts',
  'test/e2e/layout.test.ts',
  'test/e2e/runs.test.ts',
  'test/e2e/training.test.ts',
];
