import { mkdir, readFile, stat } from 'node:fs/promises';
import { cpus, release } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import {
  type Blas,
  blasSchema,
  type ProbeReply,
  type ProbeTask,
  probeReplySchema,
} from '../../core/protocol/machine/blas.ts';
import { commandRunner } from '../processes/command.ts';
import { writeFileAtomic } from '../../core/node/atomic-file.ts';
import { errorCode } from '../../core/node/file-error.ts';
import { homePaths } from '../store/home.ts';
import { type BlasLibrary, findBlasLibraries, thisSystem } from './blas-libraries.ts';
import { probe } from './probe.ts';

const surveySchema = z.strictObject({
  /** What the measurements depend on: they hold while it stays the same. */
  identity: z.string(),
  /** The wasm backend with Tutti's own kernels. */
  own: probeReplySchema,
  /** Each way to load each library that was found. */
  libraries: z.array(z.strictObject({ blas: blasSchema, reply: probeReplySchema })),
});
/** How fast this machine's BLAS libraries are, beside Tutti's own kernels. */
export type BlasSurvey = z.output<typeof surveySchema>;

/** What a survey is made with; a test has its own. */
export interface Surveyor {
  find(): Promise<BlasLibrary[]>;
  probe(task: ProbeTask): Promise<ProbeReply>;
}

const ldconfigTimeoutMs = 5000;

const thisMachine: Surveyor = {
  find: () => findBlasLibraries(thisSystem(commandRunner(ldconfigTimeoutMs))),
  probe,
};

/** OpenBLAS knows a processor by its model, takes one that is newer than itself for an old one, and then runs at a fraction of its speed. */
const openBlasCores = process.arch === 'x64' ? ['Haswell', 'SkylakeX'] : [];

/** The survey kept in the cache, if the machine, its libraries and Tutti are still the same; else a new one, which takes about a second. */
export async function readSurvey(surveyor: Surveyor = thisMachine): Promise<BlasSurvey> {
  const libraries = await surveyor.find();
  const identity = await identityOf(libraries);
  const kept = await readKept();
  return kept?.identity === identity ? kept : measure(libraries, identity, surveyor);
}

/** A survey made now, which replaces the one in the cache. */
export async function makeSurvey(surveyor: Surveyor = thisMachine): Promise<BlasSurvey> {
  const libraries = await surveyor.find();
  return measure(libraries, await identityOf(libraries), surveyor);
}

async function measure(libraries: BlasLibrary[], identity: string, surveyor: Surveyor): Promise<BlasSurvey> {
  const own = await surveyor.probe({ kind: 'backend', backend: 'wasm', blas: null });
  const measured: BlasSurvey['libraries'] = [];
  // One after the other: they measure how fast a core computes.
  for (const library of libraries) {
    for (const coreType of library.kind === 'OpenBLAS' ? [null, ...openBlasCores] : [null]) {
      const blas = { ...library, coreType };
      measured.push({ blas, reply: await surveyor.probe({ kind: 'blas', blas }) });
    }
  }
  const survey = { identity, own, libraries: measured };
  const path = surveyPath();
  await mkdir(dirname(path), { recursive: true });
  await writeFileAtomic(path, `${JSON.stringify(survey, null, 2)}\n`);
  return survey;
}

function surveyPath(): string {
  return join(homePaths().cache, 'blas.json');
}

/** Null where there is none, or none that this build can read. */
async function readKept(): Promise<BlasSurvey | null> {
  try {
    return surveySchema.parse(JSON.parse(await readFile(surveyPath(), 'utf8')));
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError || error instanceof z.ZodError) return null;
    throw error;
  }
}

async function identityOf(libraries: readonly BlasLibrary[]): Promise<string> {
  const files = await Promise.all(libraries.map(({ library }) => fileIdentity(library)));
  const processor = cpus()[0]?.model ?? '';
  return [packageJson.version, process.version, process.arch, release(), processor, ...files].join('; ');
}

async function fileIdentity(path: string): Promise<string> {
  try {
    const { size, mtimeMs } = await stat(path);
    return `${path} ${size} ${mtimeMs}`;
  } catch (error) {
    // Accelerate has no file of its own: it is as old as the system, whose release is part of the identity.
    if (errorCode(error) === 'ENOENT') return path;
    throw error;
  }
}

/** The fastest of those that could be measured; null where none could. */
export function fastestBlas({ libraries }: BlasSurvey): { blas: Blas; description: string; gflops: number } | null {
  const usable = libraries.flatMap(({ blas, reply }) => (reply.kind === 'measured' ? [{ blas, ...reply }] : []));
  return usable.reduce<(typeof usable)[number] | null>(
    (best, next) => (best === null || next.gflops > best.gflops ? next : best),
    null,
  );
}
