import { readFileSync } from 'node:fs';

/** Peak memory of the processes that this one has started, directly or not, from its making until {@link stop}; Linux only, else NaN. */
export class MemoryWatch {
  private peakBytes = Number.NaN;
  private readonly timer = setInterval(() => this.sample(), 100);

  stop(): number {
    clearInterval(this.timer);
    return this.peakBytes;
  }

  private sample(): void {
    const bytes = descendants(process.pid).reduce((sum, pid) => sum + proportionalBytes(pid), 0);
    if (bytes > 0) this.peakBytes = Math.max(bytes, this.peakBytes || 0);
  }
}

function descendants(pid: number): number[] {
  const text = read(`/proc/${pid}/task/${pid}/children`);
  const children = text.split(' ').filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

/** Resident memory in which each page counts by the share of the processes that have it (PSS): sums are not too large. */
function proportionalBytes(pid: number): number {
  return Number(/^Pss: +(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * 1024;
}

/** Empty where a process has ended, or the system tells nothing. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
