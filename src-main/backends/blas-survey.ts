import { mkdir, readFile, stat } from 'node:fs/promises';
import { cpus, release } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import {
  type Blas,
  blasSchema,
  type ProbeReply,
  probeReplySchema,
  type ProbeTask,
} from '../../core/protocol/machine/devices.ts';
import { commandRunner } from '../processes/command.ts';
import { writeFileAtomic } from '../../core/node/atomic-file.ts';
import { refuseLibrary } from '../../core/node/file-owner.ts';
import { errorCode } from '../../core/node/file-error.ts';
import { homePaths } from '../store/home.ts';
import { type BlasLibrary, findBlasLibraries, thisSystem } from './blas-libraries.ts';
import { askProcess } from '../processes/standing-process.ts';
import { probeEntry } from '../processes/node-process.ts';

const probeTimeoutMs = 30_000;

/**
 * Tests and measures a backend or a BLAS in a separate process, because it may crash: a library that was built for
 * another processor does.
 */
export async function probe(task: ProbeTask): Promise<ProbeReply> {
  const subject = task.kind === 'blas' ? `${task.blas.kind} (${task.blas.library})` : `The backend ${task.backend}`;
  try {
    const answer = await askProcess<object>({
      entry: probeEntry,
      args: [],
      grant: null,
      message: task,
      timeoutMs: probeTimeoutMs,
      subject: `${subject} could not be measured`,
    });
    return probeReplySchema.parse(answer);
  } catch (error) {
    return { kind: 'unusable', reason: error instanceof Error ? error.message : String(error) };
  }
}

const surveySchema = z.strictObject({
  /** Identifies what the measurements depend on: they are valid as long as it does not change. */
  identity: z.string(),
  /** The wasm backend with Tutti's kernels. */
  own: probeReplySchema,
  /** Every found library, in every way to load it. */
  libraries: z.array(z.strictObject({ blas: blasSchema, reply: probeReplySchema })),
});
/** The speed of this machine's BLAS libraries and of Tutti's kernels. */
export type BlasSurvey = z.output<typeof surveySchema>;

/** The search and the measurement of a survey; tests replace them. */
export interface Surveyor {
  find(): Promise<BlasLibrary[]>;
  /** Why a library must not be loaded; null if it may. */
  refuse(library: string): string | null;
  probe(task: ProbeTask): Promise<ProbeReply>;
}

const ldconfigTimeoutMs = 5000;

/** The BLAS libraries of this system. */
export function findOnThisSystem(): Promise<BlasLibrary[]> {
  return findBlasLibraries(thisSystem(commandRunner(ldconfigTimeoutMs)));
}

const thisMachine: Surveyor = {
  find: findOnThisSystem,
  refuse: refuseLibrary,
  probe,
};

/**
 * Processors to try. OpenBLAS recognizes a processor by its model; it treats an unknown, newer one as an old one and is
 * then much slower.
 */
const openBlasCores = process.arch === 'x64' ? ['Haswell', 'SkylakeX'] : [];

/**
 * The cached survey if the machine, its libraries and Tutti have not changed; otherwise a new one, which takes about a
 * second.
 */
export async function readSurvey(surveyor: Surveyor = thisMachine): Promise<BlasSurvey> {
  const libraries = await surveyor.find();
  const identity = await identityOf(libraries, surveyor);
  return (await keptSurvey(libraries, identity)) ?? measure(libraries, identity, surveyor);
}

/** The cached survey; null where a new one is needed. */
export async function knownSurvey(surveyor: Surveyor = thisMachine): Promise<BlasSurvey | null> {
  const libraries = await surveyor.find();
  return keptSurvey(libraries, await identityOf(libraries, surveyor));
}

async function keptSurvey(libraries: readonly BlasLibrary[], identity: string): Promise<BlasSurvey | null> {
  const kept = await readKept();
  return kept?.identity === identity && namesOnly(kept, libraries) ? kept : null;
}

/** Makes a new survey, which replaces the cached one. */
export async function makeSurvey(surveyor: Surveyor = thisMachine): Promise<BlasSurvey> {
  const libraries = await surveyor.find();
  return measure(libraries, await identityOf(libraries, surveyor), surveyor);
}

/** Whether a cached survey names no library but those that this system has now. */
function namesOnly({ libraries }: BlasSurvey, found: readonly BlasLibrary[]): boolean {
  return libraries.every(({ blas }) => found.some(({ library }) => library === blas.library));
}

async function measure(libraries: BlasLibrary[], identity: string, surveyor: Surveyor): Promise<BlasSurvey> {
  const own = await surveyor.probe({ kind: 'backend', backend: 'wasm', blas: null });
  const measured: BlasSurvey['libraries'] = [];
  // Sequential, because each measurement needs an idle core.
  for (const library of libraries) {
    for (const coreType of library.kind === 'OpenBLAS' ? [null, ...openBlasCores] : [null]) {
      const blas = { ...library, coreType };
      const reason = surveyor.refuse(library.library);
      const reply: ProbeReply =
        reason === null ? await surveyor.probe({ kind: 'blas', blas }) : { kind: 'unusable', reason };
      measured.push({ blas, reply });
    }
  }
  const survey = { identity, own, libraries: measured };
  await keep(survey).catch((error: unknown) => {
    // It is measured again next time.
    if (errorCode(error) === null) throw error;
  });
  return survey;
}

/** Caches a survey. @throws an error with a code where the home cannot be written */
async function keep(survey: BlasSurvey): Promise<void> {
  const path = surveyPath();
  await mkdir(dirname(path), { recursive: true });
  await writeFileAtomic(path, `${JSON.stringify(survey, null, 2)}\n`);
}

function surveyPath(): string {
  return join(homePaths().cache, 'blas.json');
}

/** The cached survey; null if there is none that this version can read. */
async function readKept(): Promise<BlasSurvey | null> {
  try {
    return surveySchema.parse(JSON.parse(await readFile(surveyPath(), 'utf8')));
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError || error instanceof z.ZodError) return null;
    throw error;
  }
}

async function identityOf(libraries: readonly BlasLibrary[], surveyor: Surveyor): Promise<string> {
  const files = await Promise.all(
    libraries.map(async ({ library }) => [await fileIdentity(library), surveyor.refuse(library) ?? ''].join(' ')),
  );
  const processor = cpus()[0]?.model ?? '';
  return [packageJson.version, process.version, process.arch, release(), processor, ...files].join('; ');
}

async function fileIdentity(path: string): Promise<string> {
  try {
    const { size, mtimeMs } = await stat(path);
    return `${path} ${size} ${mtimeMs}`;
  } catch (error) {
    // Accelerate has no file. It changes only with the system, whose release is part of the identity.
    if (errorCode(error) === 'ENOENT') return path;
    throw error;
  }
}

/** The fastest library that could be measured; null if none could. */
export function fastestBlas({ libraries }: BlasSurvey): { blas: Blas; description: string; gflops: number } | null {
  const usable = libraries.flatMap(({ blas, reply }) => (reply.kind === 'measured' ? [{ blas, ...reply }] : []));
  return usable.reduce<(typeof usable)[number] | null>(
    (best, next) => (best === null || next.gflops > best.gflops ? next : best),
    null,
  );
}
