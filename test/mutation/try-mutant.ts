import { kernelSources } from './areas.ts';
import type { Mutant } from './draw.ts';
import { hashSource, type MutantResult } from './report.ts';
import { runTests } from './run-tests.ts';
import type { Sandbox } from './sandbox.ts';
import type { Durations, Stage } from './select-tests.ts';
import { lineAt, mutate } from './sites.ts';

type Verdict = Pick<MutantResult, 'outcome' | 'noticedBy'>;

const buildTimeoutMs = 60_000;
/** The kernels that tests load unless they ask for others. */
const builds = ['relaxed', 'relaxed-wide'];
/** On a busy machine tests take several times what they took alone. */
const patience = 5;
const leastTimeoutMs = 30_000;

/** Applies a change in the sandbox, runs the tests stage by stage until one notices it, and takes the change back. */
export async function tryMutant(
  sandbox: Sandbox,
  { name, area, site, replacement }: Mutant,
  stages: readonly Stage[],
  durations: Durations,
): Promise<MutantResult> {
  const began = performance.now();
  const text = (await sandbox.read(site.file)).toString();
  const mutated = mutate(text, site, replacement);
  const judgeChange = (): Promise<Verdict> => judge(sandbox, stages, durations);
  await sandbox.write(site.file, mutated);
  try {
    const isKernel = site.file.startsWith(kernelSources);
    const verdict = await (isKernel ? withKernels(sandbox, judgeChange) : judgeChange());
    return {
      name,
      area: area.name,
      file: site.file,
      line: site.line,
      source: hashSource(text),
      original: site.lineText,
      mutated: lineAt(mutated, site.start),
      ...verdict,
      seconds: Math.round((performance.now() - began) / 100) / 10,
    };
  } finally {
    await sandbox.write(site.file, text);
  }
}

/** Compiles the kernels, judges if that changed them, and puts the old ones back. */
async function withKernels(sandbox: Sandbox, judgeChange: () => Promise<Verdict>): Promise<Verdict> {
  const files = builds.map((name) => `workers/kernels/${name}.wasm`);
  const before = await Promise.all(files.map((file) => sandbox.read(file)));
  const args = ['scripts/build-kernels.ts', '--only', builds.join(',')];
  const { code } = await sandbox.runNode(args, buildTimeoutMs);
  try {
    if (code !== 0) return { outcome: 'void', noticedBy: 'the compiler' };
    const after = await Promise.all(files.map((file) => sandbox.read(file)));
    const isSame = after.every((bytes, index) => bytes.equals(before[index]));
    return isSame ? { outcome: 'void', noticedBy: null } : await judgeChange();
  } finally {
    for (const [index, bytes] of before.entries()) await sandbox.write(files[index], bytes);
  }
}

async function judge(sandbox: Sandbox, stages: readonly Stage[], durations: Durations): Promise<Verdict> {
  for (const stage of stages) {
    const verdict = await judgeByStage(sandbox, stage, durations);
    if (verdict.outcome === 'survived') continue;
    // Tests with processes depend on the machine's load: a failure counts if it comes twice.
    const isCertain = stage.every((file) => !file.startsWith('test/integration/'));
    if (isCertain || (await judgeByStage(sandbox, stage, durations)).outcome !== 'survived') return verdict;
  }
  return { outcome: 'survived', noticedBy: null };
}

async function judgeByStage(sandbox: Sandbox, stage: Stage, durations: Durations): Promise<Verdict> {
  const expectedMs = stage.reduce((sum, file) => sum + (durations.get(file) ?? 0), 0);
  const limits = {
    testMs: leastTimeoutMs / 2 + patience * Math.max(...stage.map((file) => durations.get(file) ?? 0)),
    allMs: leastTimeoutMs + patience * expectedMs,
  };
  const run = await runTests(sandbox, stage, limits, true);
  if (run.isTimedOut) return { outcome: 'timeout', noticedBy: stage.join(', ') };
  if (!run.hasFailed) return { outcome: 'survived', noticedBy: null };
  return { outcome: 'noticed', noticedBy: run.failedTest ?? 'an error outside of the tests' };
}
