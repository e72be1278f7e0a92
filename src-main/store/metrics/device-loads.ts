import type { DeviceLoad, DeviceLoadColumns, LoadSample } from '../../../core/protocol/machine/devices.ts';
import { appendLines } from '../../../core/node/append-lines.ts';
import { LineTail } from './line-tail.ts';
import { formatNumber, parseNumber } from './metrics-csv.ts';
import { runPaths } from '../runs/run-folder.ts';

const header = 'time,device,load,memory_bytes';

/** Appends a sample to `devices.csv`, one line per device. */
export async function appendLoads(folder: string, { time, loads }: LoadSample): Promise<void> {
  const lines = loads.map(({ device, load, memoryUsedBytes }) =>
    [time, device, load === null ? '' : load.toFixed(3), formatCell(memoryUsedBytes)].join(','),
  );
  // A number that was cut short is still a valid number, so the line is closed with an extra cell that makes it
  // invalid.
  await appendLines(runPaths(folder).devices, lines, { header, closing: ',' });
}

function formatCell(value: number | null): string {
  return value === null ? '' : formatNumber(value);
}

interface GrowingColumns {
  timeMs: number[];
  load: number[];
  memoryBytes: number[];
}

/** Follows `devices.csv` as it grows. */
export class DeviceLoadsTail {
  readonly #tail: LineTail;
  readonly #columns = new Map<string, GrowingColumns>();

  constructor(folder: string) {
    this.#tail = new LineTail(runPaths(folder).devices);
  }

  /** All loads read so far, by device. */
  get columns(): DeviceLoadColumns[] {
    return [...this.#columns].map(([device, { timeMs, load, memoryBytes }]) => ({
      device,
      timeMs: Float64Array.from(timeMs),
      load: Float64Array.from(load),
      memoryBytes: Float64Array.from(memoryBytes),
    }));
  }

  /** Reads new lines, and skips invalid ones. @returns the new samples, by time */
  async read(): Promise<LoadSample[]> {
    const news: { time: string; load: DeviceLoad }[] = [];
    const startAnew = (): void => {
      news.length = 0;
      this.#columns.clear();
    };
    for await (const { lines } of this.#tail.read(startAnew)) news.push(...lines.flatMap((line) => parseLine(line)));
    for (const { time, load } of news) this.#add(Date.parse(time), load);
    const byTime = Map.groupBy(news, ({ time }) => time);
    return [...byTime].map(([time, found]) => ({ time, loads: found.map(({ load }) => load) }));
  }

  #add(timeMs: number, { device, load, memoryUsedBytes }: DeviceLoad): void {
    const columns = this.#columns.get(device) ?? { timeMs: [], load: [], memoryBytes: [] };
    columns.timeMs.push(timeMs);
    columns.load.push(load ?? Number.NaN);
    columns.memoryBytes.push(memoryUsedBytes ?? Number.NaN);
    this.#columns.set(device, columns);
  }
}

function parseLine(line: string): { time: string; load: DeviceLoad }[] {
  const [time, device, load, memory, ...more] = line.split(',');
  if (line === header || memory === undefined || more.length > 0 || Number.isNaN(Date.parse(time))) return [];
  return [{ time, load: { device, load: parseNumber(load), memoryUsedBytes: parseNumber(memory) } }];
}
