/**
 * Writes docs/backends.md: every op of the tests' matrix on the wasm backend, held against the `cpu` backend. Takes about half a minute. The last
 * digits depend on the processor, so there is no `--check`; a unit test compares the list of ops.
 */
import { writeFileSync } from 'node:fs';
import { compareOp, type OpComparison } from '../test/unit/backends/op-matrix/compare.ts';
import { opMatrix } from '../test/unit/backends/op-matrix/index.ts';
import { startBoth } from '../test/unit/backends/op-matrix/start.ts';

const samples = 20;

const introduction = `# Ops of the wasm backend

Generated from the matrix of ops in \`test/unit/backends/op-matrix/\` by \`npm run docs:backends\`.

Each op is run over ${samples} random draws of shapes and values on the wasm backend and on TensorFlow.js's \`cpu\` backend, plain JavaScript that
is slow and serves as reference. The error is the largest of max|a − b| / max|b| over the draws, of the op's value and of its gradients with
respect to all inputs and weights; "–" stands where there is no gradient. Sums are rounded in another order, so errors of about 1e-6 are
what float32 gives. Where the \`cpu\` backend itself is wrong (gradients of resizing and up-sampling), the reference is composed of
other ops. \`test/unit/backends/finite-differences.test.ts\` checks gradients of convolutions, pools and resizing against differences.

What TensorFlow.js 4.22 lacks or has wrong on all backends stays so: a gradient of \`maximum\`, \`minimum\` and \`squaredDifference\` with
broadcasting, of \`matMul\` with a broadcast batch, of \`split\` and \`unstack\` into one part. Images are \`[B, H, W, C]\` (\`channelsLast\`; layers
transpose others).
`;

const header = '| Op | Value | Gradient | Shapes of inputs, the first of them |\n| --- | --- | --- | --- |';

await startBoth('wasm', 'cpu');
const sections: string[] = [introduction];
for (const [heading, cases] of opMatrix) {
  const rows: string[] = [];
  for (const testCase of cases) rows.push(renderRow(await compareOp(testCase, 'wasm', 'cpu', samples)));
  sections.push([`## ${heading}`, '', header, ...rows, ''].join('\n'));
}
writeFileSync(new URL('../docs/backends.md', import.meta.url), sections.join('\n'));

function renderRow({ op, valueError, gradientError, shapes }: OpComparison): string {
  const distinct = [...new Set(shapes)];
  const rest = distinct.length > 2 ? `; ${distinct.length - 2} more` : '';
  const shown = distinct.slice(0, 2).join('; ') + rest;
  return `| \`${op}\` | ${renderError(valueError)} | ${gradientError === null ? '–' : renderError(gradientError)} | ${shown} |`;
}

function renderError(error: number): string {
  return error === 0 ? '0' : error.toExponential(0);
}
