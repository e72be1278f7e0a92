import { replaceFile } from '../../core/node/atomic-file.ts';
import { createRunFolder, runPaths } from '../../src-main/store/runs/run-folder.ts';
import { benchRecord, ranks } from '../records.ts';

const chunkCharacters = 2 ** 20;

/** Writes a run whose 16 ranks report at each step, up to the given number of points. */
export async function writeLongRun(folder: string, id: string, points: number): Promise<void> {
  await createRunFolder(folder, benchRecord(id));
  await replaceFile(runPaths(folder).metrics, async (handle) => {
    let chunk = `epoch,step,${Array.from({ length: ranks }, (_, rank) => lossOf(rank)).join(',')}\n`;
    for (let step = 0; step < points / ranks; step += 1) {
      const values = Array.from({ length: ranks }, (_, rank) => lossAt(rank, step));
      chunk += `${Math.floor(step / 1000)},${step},${values.join(',')}\n`;
      if (chunk.length < chunkCharacters) continue;
      await handle.appendFile(chunk);
      chunk = '';
    }
    await handle.appendFile(chunk);
  });
}

/** The metric that a rank reports. */
export function lossOf(rank: number): string {
  return `train/member_${rank}_loss`;
}

/** A noisy decay with all digits, equal in every run. */
export function lossAt(rank: number, step: number): number {
  const noise = Math.sin(step * 12.9898 + rank * 78.233) * 43_758.5453;
  return 0.2 + Math.exp(-step / 30_000) + 0.1 * (noise - Math.floor(noise));
}
