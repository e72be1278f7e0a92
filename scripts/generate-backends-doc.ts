/**
 * Writes docs/backends.md: every op of the tests' matrix on the wasm and webgpu backends, held against the `cpu` backend. Takes a few minutes, and
 * SwiftShader. The last digits depend on the processor, so there is no `--check`; a unit test compares the list of ops.
 */
import { writeFileSync } from 'node:fs';
import { startBackend } from '../workers/backends/backend.ts';
import { compareOp, type OpComparison } from '../test/unit/backends/op-matrix/compare.ts';
import { opMatrix } from '../test/unit/backends/op-matrix/index.ts';
import { setUpSwiftShader } from '../test/integration/swiftshader.ts';
import { startBoth } from '../test/unit/backends/op-matrix/start.ts';

const samples = 20;

const introduction = `# Ops of the wasm and webgpu backends

Generated from the matrix of ops in \`test/unit/backends/op-matrix/\` by \`npm run docs:backends\`.

Each op is run over ${samples} random draws of shapes and values on both backends and on TensorFlow.js's \`cpu\` backend, plain JavaScript that
is slow and serves as reference. The error is the largest of max|a − b| / max|b| over the draws, of the op's value and of its gradients with
respect to all inputs and weights; "–" stands where there is no gradient. Sums are rounded in another order, so errors of about 1e-6 are
what float32 gives.

webgpu runs on SwiftShader here, which computes on the CPU; GPUs differ in the last digits. WebGPU asks of \`sin\` and \`cos\` no more
than errors below 2⁻¹¹. Gradients of saturated \`tanh\` and \`sigmoid\` are what rounding leaves of 1 − y, so one unit in y's last place shows large.

Where the \`cpu\` backend itself is wrong (gradients of resizing and up-sampling), the reference is composed of
other ops. \`test/unit/backends/finite-differences.test.ts\` checks gradients of convolutions, pools and resizing against differences.

Convolutions and pools are also held against loops in float64 that share no code with TensorFlow.js (\`test/unit/backends/naive/\`), on wasm in
both builds, cpu, tensorflow and webgpu. The largest value of several equal ones under a window of a max pool gets its gradient (the first; on webgpu
the last); equal values of \`max\` and \`min\` over axes share it evenly. A window over nothing but padding is an error.

NaN in is NaN out on wasm and cpu, for bounds, extremes, pools and all activations (\`test/unit/backends/nan.test.ts\`). As in PyTorch, \`sign\` of NaN is 0
and \`clipByValue\` passes it no gradient. Unlike there, \`argMax\` and \`topk\` pass over NaN, and the first NaN under a window gets the gradient, not
the last. On webgpu a GPU may drop NaN: WGSL lets it.

Sums of many terms are made in blocks of float32 whose sums are added in float64, on wasm and cpu. Products of matrices add blocks of 256 terms in
float32, as a BLAS does, and webgpu adds all in float32.

What TensorFlow.js 4.22 lacks on all backends stays so: a gradient of \`split\` and \`unstack\` into one part. Images are \`[B, H, W, C]\` (\`channelsLast\`; layers
transpose others).
`;

const header =
  '| Op | wasm: value | gradient | webgpu: value | gradient | Shapes of inputs, the first of them |\n' +
  '| --- | --- | --- | --- | --- | --- |';

const obstacle = await setUpSwiftShader();
if (obstacle !== null) throw new Error(`The table has a column for webgpu, which cannot be had here: ${obstacle}.`);
await startBoth('wasm', 'cpu');
await startBackend('webgpu');
const sections: string[] = [introduction];
for (const [heading, cases] of opMatrix) {
  const rows: string[] = [];
  for (const testCase of cases) {
    const wasm = await compareOp(testCase, 'wasm', 'cpu', samples);
    rows.push(renderRow(wasm, await compareOp(testCase, 'webgpu', 'cpu', samples)));
  }
  sections.push([`## ${heading}`, '', header, ...rows, ''].join('\n'));
}
writeFileSync(new URL('../docs/backends.md', import.meta.url), sections.join('\n'));

function renderRow(wasm: OpComparison, webgpu: OpComparison): string {
  const { op, shapes } = wasm;
  const distinct = [...new Set(shapes)];
  const rest = distinct.length > 2 ? `; ${distinct.length - 2} more` : '';
  const shown = distinct.slice(0, 2).join('; ') + rest;
  return `| \`${op}\` | ${renderErrors(wasm)} | ${renderErrors(webgpu)} | ${shown} |`;
}

function renderErrors({ valueError, gradientError }: OpComparison): string {
  return `${renderError(valueError)} | ${gradientError === null ? '–' : renderError(gradientError)}`;
}

function renderError(error: number): string {
  return error === 0 ? '0' : error.toExponential(0);
}
