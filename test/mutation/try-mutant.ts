import { kernelSources } from './areas.ts';
import type { Mutant } from './draw.ts';
import { hashSource, type MutantResult } from './report/report.ts';
import { type Limits, runTests, type TestRun } from './run-tests.ts';
import type { Sandbox } from './sandbox.ts';
import type { Durations, Stage } from './select-tests.ts';
import { isValid, lineAt, mutate } from './sites.ts';
import type { Witness } from './witness.ts';

/** What is known about the tests. */
export interface Judges {
  durations: Durations;
  witness: Witness;
}

type Verdict = Pick<MutantResult, 'outcome' | 'noticedBy'>;

const buildTimeoutMs = 60_000;
const kernelModules = ['relaxed', 'deterministic', 'relaxed-wide', 'deterministic-wide'];
/** On a busy machine, tests take several times as long as alone. */
const patience = 5;
const leastTimeoutMs = 30_000;

/** Applies a change in the sandbox, runs the tests stage by stage until one notices it, and reverts the change. */
export async function tryMutant(
  sandbox: Sandbox,
  { name, area, site, replacement }: Mutant,
  stages: readonly Stage[],
  judges: Judges,
): Promise<MutantResult> {
  const began = performance.now();
  const text = (await sandbox.read(site.file)).toString();
  const mutated = mutate(text, site, replacement);
  const judgeChange = (): Promise<Verdict> => judge(sandbox, stages, judges);
  const describe = (verdict: Verdict): MutantResult => ({
    name,
    area: area.name,
    file: site.file,
    line: site.line,
    source: hashSource(text),
    original: site.lineText,
    mutated: lineAt(mutated, site.start),
    ...verdict,
    seconds: Math.round((performance.now() - began) / 100) / 10,
  });
  await sandbox.write(site.file, mutated);
  try {
    if (!isValid(mutated)) return describe({ outcome: 'void', noticedBy: 'the parser' });
    const isKernel = site.file.startsWith(kernelSources);
    return describe(await (isKernel ? withKernels(sandbox, judgeChange) : judgeChange()));
  } finally {
    await sandbox.write(site.file, text);
  }
}

/** Compiles the kernels, judges the mutant if that changed them, and restores the old ones. */
async function withKernels(sandbox: Sandbox, judgeChange: () => Promise<Verdict>): Promise<Verdict> {
  const files = kernelModules.map((name) => `workers/kernels/${name}.wasm`);
  const before = await Promise.all(files.map((file) => sandbox.read(file)));
  const { code } = await sandbox.runNode(['scripts/build-kernels.ts'], buildTimeoutMs);
  try {
    if (code !== 0) return { outcome: 'void', noticedBy: 'the compiler' };
    const after = await Promise.all(files.map((file) => sandbox.read(file)));
    const isSame = after.every((bytes, index) => bytes.equals(before[index]));
    return isSame ? { outcome: 'void', noticedBy: null } : await judgeChange();
  } finally {
    for (const [index, bytes] of before.entries()) await sandbox.write(files[index], bytes);
  }
}

async function judge(sandbox: Sandbox, stages: readonly Stage[], { durations, witness }: Judges): Promise<Verdict> {
  for (const stage of stages) {
    const limits = limitsOf(stage, durations);
    let tests = stage;
    while (tests.length > 0) {
      const run = await runTests(sandbox, tests, limits, true);
      if (!run.hasFailed && !run.isTimedOut) break;
      const suspects = run.failure === null ? tests : [run.failure.file];
      const unreliable = await witness.unreliableOf(suspects, limits);
      if (unreliable.length === 0) return describeVerdict(run, tests);
      tests = tests.filter((test) => !unreliable.includes(test));
    }
  }
  return { outcome: 'survived', noticedBy: null };
}

function limitsOf(stage: Stage, durations: Durations): Limits {
  const timesMs = stage.map((file) => durations.get(file) ?? 0);
  const expectedMs = timesMs.reduce((sum, milliseconds) => sum + milliseconds, 0);
  return {
    testMs: leastTimeoutMs / 2 + patience * Math.max(...timesMs),
    allMs: leastTimeoutMs + patience * expectedMs,
  };
}

function describeVerdict({ isTimedOut, failure }: TestRun, tests: readonly string[]): Verdict {
  if (isTimedOut) return { outcome: 'timeout', noticedBy: tests.join(', ') };
  return {
    outcome: 'noticed',
    noticedBy: failure === null ? 'an error outside of the tests' : `${failure.file} > ${failure.test}`,
  };
}
