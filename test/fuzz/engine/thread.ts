import { parentPort, workerData } from 'node:worker_threads';
import { Coverage, instrumentProduct } from './coverage.ts';
import type { Group } from '../targets/index.ts';
import { SharedCase } from './shared-case.ts';

/** What the thread needs to know. */
export interface ThreadTask {
  group: Group;
  target: string;
  seed: number;
  cases: number;
  shared: SharedArrayBuffer;
}

/** What a thread found. It continues after findings; the same one is reported once. */
export interface ThreadReport {
  cases: number;
  /** Branches and functions of the product that were executed. */
  reached: number;
  corpus: number;
  findings: { kind: string; message: string; bytes: Uint8Array }[];
}

/** Fuzzes one target: mutates inputs that reached something new, and keeps those that do so again. */
async function fuzz({ group, target: name, seed, cases, shared }: ThreadTask): Promise<ThreadReport> {
  instrumentProduct();
  const { openGroup } = await import('../targets/index.ts');
  const [{ examine }, { minimise, signatureOf }, { cross, mutate }, { Random }] = await Promise.all([
    import('./judge.ts'),
    import('./minimise.ts'),
    import('./mutate.ts'),
    import('./random.ts'),
  ]);
  const target = (await openGroup(group)).find((candidate) => candidate.name === name);
  if (target === undefined) throw new Error(`There is no target ${name}.`);
  const [random, coverage, current] = [new Random(seed), new Coverage(), new SharedCase(shared)];
  const seeds = (await target.seeds()).map((bytes) => Buffer.from(bytes));
  const corpus: Buffer[] = [...seeds];
  const findings = new Map<string, ThreadReport['findings'][number]>();
  const next = (index: number): Buffer => {
    if (index < seeds.length) return seeds[index];
    const parent = random.pick(corpus);
    const base = random.below(8) === 0 ? cross(parent, random.pick(corpus), random) : parent;
    return mutate(base, random, target.maximumBytes);
  };
  for (let index = 0; index < cases; index += 1) {
    const bytes = next(index);
    current.beginCase(bytes);
    const finding = await examine(target, bytes);
    if (coverage.takeNews() && index >= seeds.length) corpus.push(bytes);
    if (finding === null || findings.has(signatureOf(finding))) continue;
    findings.set(signatureOf(finding), { ...finding, bytes: await minimise(target, bytes, finding, current) });
    coverage.takeNews();
  }
  await target.close?.();
  return { cases, reached: coverage.reached, corpus: corpus.length, findings: [...findings.values()] };
}

parentPort?.postMessage(await fuzz(workerData as ThreadTask), []);
