import { readFileSync } from 'node:fs';

/** Peak memory of this process's descendants, from the constructor to {@link stop}. Linux only; NaN elsewhere. */
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

/** Proportional set size (PSS): a page that n processes share counts as 1/n, so that sums count it once. */
function proportionalBytes(pid: number): number {
  return Number(/^Pss: +(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * 1024;
}

/** Empty if a process has ended or the system has no such file. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
