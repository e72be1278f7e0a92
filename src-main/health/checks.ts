import { formatBytes } from '../../core/text/numbers.ts';
import { access, constants, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../core/node/make-folder.ts';
import { messageOf } from '../../core/text/errors.ts';
import { detectDevices } from '../devices/detect.ts';
import { listen } from '../relay/socket-server.ts';
import { ScratchFolder } from '../runs/workers/scratch.ts';
import { dataFolders, tuttiHome } from '../store/home.ts';
import { privateMode } from '../store/private-home.ts';
import { type Check, checkBackends } from './backend-checks.ts';
import { limitChecks } from './limit-checks.ts';
import { tutti } from '../../core/text/program.ts';
import type { Device } from '../../core/protocol/machine/devices.ts';
import { usableKinds } from '../processes/native-build.ts';

/**
 * A run keeps a few copies of its weights. With less space than this, a run of a larger model is likely to be refused.
 */
const littleDiskBytes = 2 * 2 ** 30;

const missingData = 'Create the folder that TUTTI_DATA names, or unset TUTTI_DATA.';

/** Runs all checks. A check that throws has failed; the others still run. */
export async function runChecks(): Promise<Check[]> {
  const checks = [
    attempt('devices', checkDevices, 'Give this process at least one CPU core.'),
    attempt('home', checkHome, 'Set TUTTI_HOME to a folder that you may write to.'),
    attempt('data', checkData, missingData),
    attempt('scratch', checkScratch, 'Set TMPDIR to a folder of yours with a short path.'),
    ...Object.entries(limitChecks).map(([name, { check, remedy }]) => attempt(name, check, remedy)),
  ];
  const backends = await checkBackends().catch((error: unknown): Check[] => [
    { name: 'backends', status: 'fail', detail: messageOf(error), remedy: 'See the check of the home below.' },
  ]);
  return [checkNode(), ...backends, ...(await Promise.all(checks.map((check) => check())))];
}

function attempt(name: string, check: () => Promise<Omit<Check, 'name'>>, remedy: string): () => Promise<Check> {
  return async () => {
    try {
      return { name, ...(await check()) };
    } catch (error) {
      return { name, status: 'fail', detail: messageOf(error).split('\n')[0], remedy };
    }
  };
}

function checkNode(): Check {
  return { name: 'node', status: 'ok', detail: `${process.version} on ${process.platform} ${process.arch}` };
}

async function checkDevices(): Promise<Omit<Check, 'name'>> {
  const { devices, notes } = await detectDevices();
  const usable = devices.filter(isUsable);
  if (usable.length === 0) throw new Error('This build cannot compute on any device of this machine.');
  const unused = devices.filter((device) => !usable.includes(device));
  const strangers = unused.map((device) => `${device.id}: ${describeUse(device)}.`);
  const detail = [`${usable.length} usable (${usable[0].name}).`, ...strangers, ...notes].join(' ');
  return { status: 'ok', detail };
}

async function checkHome(): Promise<Omit<Check, 'name'>> {
  const home = tuttiHome();
  await makeFolder(home, privateMode);
  await access(home, constants.W_OK);
  const { bavail, bsize } = await statfs(home);
  const detail = `${home}, ${formatBytes(bavail * bsize)} free`;
  if (bavail * bsize >= littleDiskBytes) return { status: 'ok', detail };
  return { status: 'warn', detail, remedy: 'Free some space, or set TUTTI_HOME to a folder on another disk.' };
}

async function checkData(): Promise<Omit<Check, 'name'>> {
  const { lookup, cache } = dataFolders();
  if (lookup === null) return { status: 'ok', detail: `downloaded to ${cache} (TUTTI_DATA is not set)` };
  const problem = await access(lookup, constants.R_OK).then(
    () => null,
    (error: unknown) => messageOf(error),
  );
  if (problem === null) return { status: 'ok', detail: `${lookup} (TUTTI_DATA), then ${cache}` };
  // Data sets are downloaded, and projects may have their own.
  return { status: 'warn', detail: problem, remedy: missingData };
}

/** Creates what every run needs first: an owner-only folder, in memory if there is space, and a socket in it. */
async function checkScratch(): Promise<Omit<Check, 'name'>> {
  const scratch = await ScratchFolder.create();
  const folder = scratch.path;
  try {
    const server = await listen(join(folder, 'hub.sock'));
    await server.close();
    const { bavail, bsize } = await statfs(folder);
    const detail = `sockets and shared data in ${dirname(folder)}, ${formatBytes(bavail * bsize)} free`;
    if (process.platform !== 'linux' || folder.startsWith('/dev/shm/')) return { status: 'ok', detail };
    const remedy = 'Less than 1 GiB is free in /dev/shm: in a container, start it with --shm-size 2g.';
    return { status: 'warn', detail, remedy };
  } finally {
    await scratch.remove();
  }
}

/** Whether a backend of this build computes on the device. */
export function isUsable(device: Device): boolean {
  return whyUnusable(device) === null;
}

/** Whether a device can be used; if not, the reason and the remedy. */
export function describeUse(device: Device): string {
  const reason = whyUnusable(device);
  if (reason !== null) return reason;
  return device.kind === 'webgpu-cpu' ? 'if named: it computes on the CPU' : 'yes';
}

/** Why a device cannot be used, and the remedy; null if it can. A damaged build is a reason too. */
function whyUnusable({ kind, unusable }: Device): string | null {
  if (unusable !== undefined) return `no: ${unusable}`;
  if (kind === 'cpu') return null;
  try {
    const kinds = usableKinds();
    if (kinds.includes(kind)) return null;
    if (kind === 'rocm' && kinds.includes('webgpu')) return 'as its webgpu device';
  } catch (error) {
    return `no: ${messageOf(error)}`;
  }
  return `no backend in this build: ${tutti} setup ${kind === 'cuda' ? '--gpu' : '--webgpu'}`;
}
