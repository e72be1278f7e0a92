import type { Device, Detected } from '../../core/protocol/machine/devices.ts';
import { explainFailure, type CommandRunner } from '../processes/command.ts';

const bytesPerMebibyte = 1024 * 1024;
const gpuQuery = [
  '--query-gpu=index,name,uuid,memory.total,memory.used,utilization.gpu',
  '--format=csv,noheader,nounits',
];
const processQuery = ['--query-compute-apps=gpu_uuid,pid', '--format=csv,noheader'];

/**
 * NVIDIA GPUs as `nvidia-smi` lists them. `cuda:i` is its index i, the order of the PCI bus, which CUDA uses only with
 * `CUDA_DEVICE_ORDER=PCI_BUS_ID`.
 */
export async function detectNvidia(run: CommandRunner): Promise<Detected> {
  const { gpus, failure, notes } = await queryGpus(run);
  if (failure !== null) return { devices: [], notes: [`${failure} NVIDIA GPUs, if any, stay unused.`] };
  if (gpus.length === 0) return { devices: [], notes };
  const processes = await countProcesses(run, new Set(gpus.map((gpu) => gpu.uuid)));
  const devices = gpus.map(({ uuid, device }) => ({ ...device, processCount: processes.count(uuid) }));
  return { devices, notes: [...notes, ...processes.notes] };
}

/** The GPUs without their processes, which need a second query. `failure` is the reason if there is no answer. */
export async function queryGpus(
  run: CommandRunner,
): Promise<{ gpus: { uuid: string; device: Device }[]; failure: string | null; notes: string[] }> {
  const result = await run('nvidia-smi', gpuQuery);
  if (result.status !== 'exited' || result.exitCode !== 0) {
    return { gpus: [], failure: explainFailure('nvidia-smi', result), notes: [] };
  }
  const notes: string[] = [];
  const gpus = rows(result.stdout).flatMap((row) => {
    const gpu = parseGpu(row);
    if (gpu === null) notes.push(`nvidia-smi gave a line that is no description of a GPU: "${row.join(', ')}".`);
    return gpu ?? [];
  });
  return { gpus, failure: null, notes };
}

function parseGpu(fields: string[]): { uuid: string; device: Device } | null {
  if (fields.length !== 6 || !/^\d+$/.test(fields[0])) return null;
  const [index, name, uuid, memoryTotal, memoryUsed, utilization] = fields;
  const device: Device = {
    id: `cuda:${index}`,
    kind: 'cuda',
    index: Number(index),
    name,
    memoryTotalBytes: readNumber(memoryTotal, bytesPerMebibyte),
    memoryUsedBytes: readNumber(memoryUsed, bytesPerMebibyte),
    load: readNumber(utilization, 1 / 100),
    processCount: null,
  };
  return { uuid, device };
}

/** Null for a value that a GPU does not report: `[N/A]` (with MIG), `[Not Supported]`, `[Unknown Error]`. */
function readNumber(text: string, scale: number): number | null {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) * scale : null;
}

async function countProcesses(
  run: CommandRunner,
  uuids: ReadonlySet<string>,
): Promise<{ count: (uuid: string) => number | null; notes: string[] }> {
  const result = await run('nvidia-smi', processQuery);
  if (result.status !== 'exited' || result.exitCode !== 0) {
    const note = `${explainFailure('nvidia-smi', result)} Other processes on the GPUs cannot be seen.`;
    return { count: () => null, notes: [note] };
  }
  const entries = rows(result.stdout);
  const strays = entries.filter(([uuid]) => !uuids.has(uuid));
  return {
    count: (uuid) => new Set(entries.filter((entry) => entry[0] === uuid).map(([, pid]) => pid)).size,
    notes: strays.map((stray) => `nvidia-smi names a process on no listed GPU: "${stray.join(', ')}".`),
  };
}

function rows(csv: string): string[][] {
  const lines = csv.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => line.split(',').map((field) => field.trim()));
}
