import { formatBytes } from '../../../core/text/numbers.ts';
import type { Device } from '../../../core/protocol/machine/devices.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { type Check, compareBlas } from '../../health/backend-checks.ts';
import { describeUse, isUsable, runChecks } from '../../health/checks.ts';
import { exitCodes } from '../errors.ts';
import { withHub } from '../open-hub.ts';
import { type Look, lookOf, plainLook, type Style } from '../look.ts';
import { renderTable } from '../table.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { nodeBinary, nodeFlags, setUpEntry } from '../../processes/node-process.ts';
import { homePaths } from '../../store/home.ts';

const deviceColumns = [
  { title: 'device' },
  { title: 'name', least: 16 },
  { title: 'memory', right: true },
  { title: 'load', right: true },
  { title: 'processes', right: true, dispensable: 1 },
  { title: 'usable' },
];

const statusStyles: Record<Check['status'], Style> = { ok: 'green', absent: 'dim', warn: 'yellow', fail: 'red' };

/** `tutti devices`: lists the devices of this machine. @returns the exit code */
export function listDevices(options: { json?: boolean }): Promise<number> {
  return withHub(async (hub) => {
    const { devices, notes } = await hub.devices();
    const lines = options.json
      ? [toJson({ devices: devices.map((device) => ({ ...device, usable: isUsable(device) })), notes })]
      : [
          ...renderTable(deviceColumns, devices.map(describeDevice), lookOf(process.stdout)),
          ...notes.map((note) => `note: ${note}`),
        ];
    process.stdout.write(`${lines.join('\n')}\n`);
    return exitCodes.finished;
  });
}

/** The cells of a device's row; `-` for a value that the device does not report. */
export function describeDevice(device: Device): string[] {
  const { id, name, memoryTotalBytes, memoryUsedBytes, load, processCount } = device;
  return [
    id,
    name,
    memoryTotalBytes === null ? '-' : `${formatBytes(memoryUsedBytes ?? 0)} of ${formatBytes(memoryTotalBytes)}`,
    load === null ? '-' : `${Math.round(load * 100)} %`,
    processCount === null ? '-' : String(processCount),
    describeUse(device),
  ];
}

/**
 * `tutti doctor`: checks whether this machine has what Tutti needs.
 * @returns the exit code, `failed` if Tutti cannot work
 */
export async function doctor(options: { json?: boolean }): Promise<number> {
  const checks = await runChecks();
  const isHealthy = checks.every(({ status }) => status !== 'fail');
  const lines = options.json ? [toJson({ ok: isHealthy, checks })] : describeChecks(checks, lookOf(process.stdout));
  process.stdout.write(`${lines.join('\n')}\n`);
  return isHealthy ? exitCodes.finished : exitCodes.failed;
}

/** One line per check, with the remedies below. */
export function describeChecks(checks: readonly Check[], look: Look = plainLook): string[] {
  const columns = [
    { title: '', style: (status: string) => statusStyles[status as Check['status']] },
    { title: 'check' },
    { title: 'found' },
  ];
  const table = renderTable(
    columns,
    checks.map(({ status, name, detail }) => [status, name, detail]),
    look,
  );
  const remedies = checks.flatMap(({ name, remedy }) => (remedy === undefined ? [] : [`${name}: ${remedy}`]));
  return remedies.length === 0 ? table : [...table, '', ...remedies];
}

export interface SetupOptions {
  blas?: boolean;
  tensorflow?: boolean;
  gpu?: boolean;
  webgpu?: boolean;
}

/**
 * `tutti setup`: downloads into Tutti's home what npm does not install. Without an option these are OpenBLAS and
 * TensorFlow, whose binding is compiled.
 * @returns the exit code
 */
export async function setUp(options: SetupOptions): Promise<number> {
  const { tensorflow, webgpu, blas, cache } = homePaths();
  const folders = [
    '--tensorflow-folder',
    tensorflow,
    '--webgpu-folder',
    webgpu,
    '--blas-folder',
    blas,
    '--archives',
    join(cache, 'native'),
  ];
  const named = (['blas', 'tensorflow', 'gpu', 'webgpu'] as const).filter((name) => options[name]);
  const chosen = (named.length === 0 ? ['blas', 'tensorflow'] : named).map((name) => `--${name}`);
  const child = spawn(nodeBinary(), [...nodeFlags, setUpEntry, ...folders, ...chosen], {
    stdio: 'inherit',
    windowsHide: true,
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) return exitCodes.failed;
  if (chosen.includes('--blas')) console.error(await compareBlas());
  return exitCodes.finished;
}
