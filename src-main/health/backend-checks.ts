import { tutti } from '../../core/text/program.ts';
import { messageOf } from '../../core/text/errors.ts';
import type { ProbeReply } from '../../core/protocol/machine/devices.ts';
import { type BlasSurvey, makeSurvey, probe } from '../backends/blas-survey.ts';
import { chooseBlas, describeAbsence, gainElsewhere, installBlas } from '../backends/choose-blas.ts';
import { readNativeBuild, readWebgpuBuild } from '../processes/native-build.ts';
import { formatCount } from '../../core/text/numbers.ts';

/** The result of one check of this machine. */
export interface Check {
  name: string;
  /** `absent`: an optional part that is not set up; nothing is wrong. */
  status: 'ok' | 'absent' | 'warn' | 'fail';
  detail: string;
  /** How to repair it. */
  remedy?: string;
}

/** Checks each backend: whether it works, the speed of its matrix products, and how to set it up if it is missing. */
export async function checkBackends(): Promise<Check[]> {
  // One after the other, because they measure the speed of a core.
  const cpu = await probe({ kind: 'backend', backend: 'cpu', blas: null });
  const survey = await makeSurvey();
  const checks: Check[] = [
    { name: 'backend wasm', ...(await describeWasm(survey)) },
    { name: 'BLAS', ...(await describeBlas(survey)) },
    { name: 'backend tensorflow', ...(await checkTensorFlow()) },
    { name: 'backend webgpu', ...(await checkWebgpu()) },
    { name: 'backend cpu', ...describeReply(cpu, 'Reinstall: npm ci.') },
  ];
  return unlessNoneWorks(checks);
}

/** Tutti can work as long as one backend that npm installs does: then the failures of the others are warnings. */
export function unlessNoneWorks(checks: readonly Check[]): Check[] {
  const works = checks.some(({ name, status }) => ['backend wasm', 'backend cpu'].includes(name) && status === 'ok');
  return checks.map((check) => (works && check.status === 'fail' ? { ...check, status: 'warn' } : check));
}

async function checkTensorFlow(): Promise<Omit<Check, 'name'>> {
  const problem = checkBuild(readNativeBuild, `not set up: ${tutti} setup does, with --gpu for NVIDIA GPUs`);
  if (problem !== null) return problem;
  const reply = await probe({ kind: 'backend', backend: 'tensorflow', blas: null });
  return describeReply(reply, `Set it up anew: ${tutti} setup.`);
}

async function checkWebgpu(): Promise<Omit<Check, 'name'>> {
  const absent = `not set up: ${tutti} setup --webgpu does, for GPUs of all makers`;
  const problem = checkBuild(readWebgpuBuild, absent);
  if (problem !== null) return problem;
  const reply = await probe({ kind: 'backend', backend: 'webgpu', blas: null });
  return describeReply(reply, "Check that the GPU's driver is installed, or train with --backend wasm.");
}

/**
 * The result of the check if a native build is missing, which is fine, or damaged; null if the backend can be tried.
 */
function checkBuild(read: () => object | null, absent: string): Omit<Check, 'name'> | null {
  try {
    return read() === null ? { status: 'absent', detail: absent } : null;
  } catch (error) {
    return { status: 'fail', detail: messageOf(error) };
  }
}

async function describeWasm(survey: BlasSurvey): Promise<Omit<Check, 'name'>> {
  const check = describeReply(survey.own, 'Train with --backend cpu, which is slow but works everywhere.');
  if (check.status !== 'ok' || (await chooseAutomatically(survey)) !== null) return check;
  return { ...check, detail: `${check.detail}; --backend auto uses it` };
}

/** Lists all ways to load all BLAS libraries, and marks the one that `auto` uses. */
async function describeBlas(survey: BlasSurvey): Promise<Omit<Check, 'name'>> {
  const { libraries } = survey;
  if (!libraries.some(({ reply }) => reply.kind === 'measured')) {
    return { status: 'warn', detail: describeAbsence(survey), remedy: `${installBlas} ${gainElsewhere}` };
  }
  const chosen = await chooseAutomatically(survey);
  const isChosen = (blas: BlasSurvey['libraries'][number]['blas']): boolean =>
    chosen !== null && blas.library === chosen.library && blas.coreType === chosen.coreType;
  const lines = libraries.map(({ blas, reply }) => {
    const name = blas.coreType === null ? blas.kind : `${blas.kind} as ${blas.coreType}`;
    if (reply.kind === 'unusable') return `${name}: ${reply.reason.split('\n')[0]}`;
    return `${speed(reply)}${isChosen(blas) ? ', which wasm uses' : ''}`;
  });
  const note = chosen === null ? ["not clearly faster than Tutti's kernels, so not used"] : [];
  return { status: 'ok', detail: [...lines, ...note].join('; ') };
}

/** Measures the matrix products of this machine's BLAS libraries beside those of Tutti's kernels. */
export async function compareBlas(): Promise<string> {
  const survey = await makeSurvey();
  const [own, libraries] = [await describeWasm(survey), await describeBlas(survey)];
  return `Matrix products, on one core: ${own.detail}; ${libraries.detail}.`;
}

function chooseAutomatically(survey: BlasSurvey) {
  return chooseBlas({ blas: 'auto', backend: 'auto' }, () => Promise.resolve(survey));
}

function describeReply(reply: ProbeReply, remedy: string): Omit<Check, 'name'> {
  if (reply.kind === 'unusable') return { status: 'fail', detail: reply.reason.split('\n')[0], remedy };
  return { status: 'ok', detail: speed(reply) };
}

function speed({ description, gflops }: ProbeReply & { kind: 'measured' }): string {
  return `${description}: ${formatCount(gflops)} GFLOP/s`;
}
