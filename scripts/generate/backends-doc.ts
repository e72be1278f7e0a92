/**
 * Writes docs/backends.md: every op of the tests' matrix on the wasm, cpu and webgpu backends, compared with the
 * float64 reference of test/reference. Takes a few minutes and needs SwiftShader. The last digits depend on the
 * processor, so there is no `--check`; a unit test compares the list of ops.
 */
import { writeFileSync } from 'node:fs';
import { startBackend, type BackendKind } from '../../workers/backends/backend.ts';
import { Generator } from '../../workers/random/index.ts';
import { tf } from '../../workers/tensorflow/tf.ts';
import { recordedCases, recordedFiles } from '../../test/reference/recorded.ts';
import { compareWithReference, worse, type OpErrors } from '../../test/unit/backends/op-matrix/compare.ts';
import { opMatrix } from '../../test/unit/backends/op-matrix/index.ts';
import { Draw, type OpCase } from '../../test/unit/backends/op-matrix/op-case.ts';
import { compareWithRecorded } from '../../test/unit/backends/op-matrix/recorded-samples.ts';
import { canStack, compareStacked } from '../../test/unit/backends/op-matrix/stacked.ts';
import { useSwiftShader } from '../../test/environment/webgpu.ts';

const samples = 8;
const isWithoutWebgpu = process.argv.includes('--without-webgpu');
const backends: readonly BackendKind[] = isWithoutWebgpu ? ['wasm', 'cpu'] : ['wasm', 'cpu', 'webgpu'];
const obstacle = isWithoutWebgpu ? null : await useSwiftShader();
if (obstacle !== null) {
  throw new Error(`The column for webgpu cannot be filled here: ${obstacle}. Call the script with --without-webgpu.`);
}

const aboutWebgpu = isWithoutWebgpu
  ? 'webgpu was left out of this table; `test/integration/backends/op-matrix-webgpu.test.ts` holds it against the same reference on SwiftShader.'
  : `webgpu runs on SwiftShader here, which computes on the CPU; GPUs differ in the last digits. WebGPU requires of \`sin\` and \`cos\` only
errors below 2⁻¹¹.`;

const introduction = `# Ops of the backends against a reference

\`npm run docs:backends\` generates this page from the matrix of ops in \`test/unit/backends/op-matrix/\`.

The reference is \`test/reference/\`: loops over the definitions, in float64, that share no code with TensorFlow.js. Recorded values and
gradients of PyTorch in float64 (\`test/golden/layers/make_layers.py\`) check it in turn (\`test/unit/reference/\`). The native \`tensorflow\` backend is
compared where it is installed (\`test/integration/backends/op-matrix-tensorflow.test.ts\`), gradients also with differences of the forward pass
(\`test/unit/backends/definitions/finite-differences.test.ts\`).

Each op has ${samples} random draws of shapes, options and values. The error is the largest max|a − b| / max(0.5, max|b|) over the draws, of the value and
of the gradients with respect to all inputs and weights. Rounding to float32 causes errors of about 1e-6. Ops within that on all backends, also
as a stack of three members in one computation on wasm, are only listed. In tables, value and gradients are separated by a semicolon; "–" means no
gradient, or no stacked form.

${aboutWebgpu}

\`npm test\` draws some 400 samples per backend with a fixed seed, the nightly form 20,000 (CONTRIBUTING.md).
On 22 November 2026 all 20,000 of seed 4711 passed on wasm, within 2e-5 (batch normalisation, where a column may be constant: 2e-4).

| case | rule |
| --- | --- |
| equal values under a window of a max pool | the first receives the gradient, on webgpu the last |
| equal values of \`max\` and \`min\` over axes | they share the gradient evenly |
| a window over nothing but padding | an error |
| NaN inputs of bounds, extremes, pools, activations | NaN outputs on wasm and cpu (\`test/unit/backends/definitions/nan.test.ts\`); a GPU may drop NaN, which WGSL permits |
| as in PyTorch | \`sign\` of NaN is 0; \`clipByValue\` gives NaN no gradient |
| unlike in PyTorch | \`argMax\` and \`topk\` skip NaN; the first NaN under a window receives the gradient, not the last |
| long sums on wasm and cpu | blocks of float32, added in float64; matrix products add blocks of 256 terms in float32, as a BLAS does |
| sums on webgpu | float32 |
`;

for (const backend of backends.toReversed()) await startBackend(backend);
// The setting that suppresses the cpu backend's advertisement also makes tfjs check its fused ops for leaks, which they
// have.
tf.zeros([1]).dispose();
tf.env().set('IS_TEST', false);

const sections: string[] = [introduction, await recordedSection()];
for (const [heading, cases] of opMatrix) {
  const rows: string[][] = [];
  for (const testCase of cases) rows.push(await rowOf(testCase));
  const hasStacked = rows.some((row) => row.at(-1) !== '–');
  const head = ['Op', ...backends, ...(hasStacked ? ['stacked'] : [])];
  sections.push([`## ${heading}`, '', ...describeErrors(head, rows), ''].join('\n'));
}
writeFileSync(new URL('../../docs/backends.md', import.meta.url), sections.join('\n'));

/** The table of PyTorch's recorded values: for each layer the number of cases and the largest error of each backend. */
async function recordedSection(): Promise<string> {
  const byLayer = Map.groupBy(
    recordedFiles.flatMap((file) => recordedCases(file)),
    ({ layer }) => layer,
  );
  const rows: string[][] = [];
  for (const [layer, ofLayer] of byLayer) {
    const cells = await onEach(backends, async () =>
      largest(ofLayer.map((testCase) => () => compareWithRecorded(testCase))),
    );
    rows.push([`${layer} (${ofLayer.length})`, ...cells.map(renderErrors)]);
  }
  const lines = describeErrors(['Layer, op or loss', ...backends], rows);
  return ["## PyTorch's recorded values", '', 'With the number of cases.', '', ...lines, ''].join('\n');
}

/** Lists of the ops that are exact, or as near as float32 allows, and a table of the errors of all others. */
function describeErrors(head: string[], rows: string[][]): string[] {
  const exact = rows.filter((row) => largestIn(row) === 0);
  const near = rows.filter((row) => largestIn(row) > 0 && largestIn(row) <= 1e-6);
  const others = rows.filter((row) => !exact.includes(row) && !near.includes(row));
  const list = (title: string, of: string[][]): string[] =>
    of.length === 0 ? [] : [`**${title}**: ${of.map(([name]) => name).join(', ')}.`, ''];
  const table = [head, head.map(() => '---'), ...others.map((row) => row.slice(0, head.length))];
  return [
    ...list('Exact', exact),
    ...list('Within 1e-6', near),
    ...(others.length === 0 ? [] : table.map((cells) => `| ${cells.join(' | ')} |`)),
  ];
}

/** The largest error in the cells of a row. */
function largestIn([, ...cells]: string[]): number {
  const errors = cells.flatMap((cell) => cell.split('; ')).filter((error) => error !== '–');
  return Math.max(0, ...errors.map(Number));
}

async function rowOf(testCase: OpCase): Promise<string[]> {
  const draw = Draw.from(new Generator(7, testCase.op));
  const drawn = Array.from({ length: samples }, () => testCase.draw(draw));
  const cells = await onEach(backends, () => largest(drawn.map((sample) => () => compareWithReference(sample))));
  const stackable = drawn.filter(canStack);
  const [stacked] = await onEach(['wasm'], () => largest(stackable.map((sample) => () => compareStacked(sample))));
  return [`\`${testCase.op}\``, ...[...cells, stackable.length > 0 ? stacked : null].map(renderErrors)];
}

async function onEach<T>(names: readonly string[], compute: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (const name of names) {
    await tf.setBackend(name);
    results.push(await compute());
  }
  return results;
}

async function largest(comparisons: readonly (() => Promise<OpErrors>)[]): Promise<OpErrors> {
  let errors: OpErrors = { value: 0, gradient: null };
  for (const compare of comparisons) {
    const { value, gradient } = await compare();
    errors = {
      value: worse(errors.value, value),
      gradient: gradient === null ? errors.gradient : worse(errors.gradient ?? 0, gradient),
    };
  }
  return errors;
}

/** The errors of the value and of the gradients, or one 0 if both are exact. */
function renderErrors(errors: OpErrors | null): string {
  if (errors === null) return '–';
  const { value, gradient } = errors;
  if (value === 0 && gradient === 0) return '0';
  return `${renderError(value)}; ${gradient === null ? '–' : renderError(gradient)}`;
}

function renderError(error: number): string {
  return error === 0 ? '0' : error.toExponential(0);
}
