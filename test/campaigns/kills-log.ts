import { appendFileSync, existsSync, readFileSync } from 'node:fs';

type Target = 'hub' | 'worker';

/** One SIGKILL. */
export interface Kill {
  target: Target;
  /** Whether it waited until a checkpoint or a state was being written. */
  isWhileWriting: boolean;
  /** A hub's only: whether the run was resumed before the workers of the killed hub were gone. */
  isResumedAtOnce?: boolean;
  /** Until a rank trains again, without the time for reading back; null if the run ended without another step. */
  recoveryMs: number | null;
}

/** One run of a campaign: a line of its log. */
export interface DisturbedRun {
  seed: number;
  /** Position in the campaign: with the seed it decides everything that is drawn. */
  index: number;
  configuration: string;
  kills: Kill[];
  /** What the run has lost. */
  losses: string[];
}

/** The runs of a campaign, as lines of JSON in a file, so that another process can continue it. */
export class KillsLog {
  readonly runs: DisturbedRun[];
  readonly #path: string | null;

  /** @throws Error if the file is a log of another seed */
  constructor(path: string | null, seed: number) {
    this.#path = path;
    const text = path !== null && existsSync(path) ? readFileSync(path, 'utf8') : '';
    const lines = text.split('\n').filter((line) => line !== '');
    this.runs = lines.map((line) => JSON.parse(line) as DisturbedRun);
    const other = this.runs.find((run) => run.seed !== seed);
    if (other !== undefined) {
      throw new Error(
        `${path} is the log of seed ${other.seed}, not ${seed}: use --seed ${other.seed} or another file.`,
      );
    }
  }

  get kills(): number {
    return this.runs.reduce((sum, { kills }) => sum + kills.length, 0);
  }

  add(run: DisturbedRun): void {
    this.runs.push(run);
    if (this.#path !== null) appendFileSync(this.#path, `${JSON.stringify(run)}\n`);
  }

  /** A table for `docs/guarantees.md`, then every loss. */
  summary(): string[] {
    const lost = this.runs.filter(({ losses }) => losses.length > 0);
    return [
      '| Fault | Injected | While a checkpoint or state was written | Runs with a loss | Recovery, ' +
        'median | Recovery, worst |',
      '| --- | --- | --- | --- | --- | --- |',
      ...(['worker', 'hub'] as const).map((target) => this.#row(target)),
      `${this.kills} kills in ${this.runs.length} runs, ${lost.length} with a loss`,
      ...lost.flatMap(({ index, configuration, losses }) => losses.map((what) => `${configuration} ${index}: ${what}`)),
    ];
  }

  #row(target: Target): string {
    const runs = this.runs.filter(({ kills }) => kills.some((kill) => kill.target === target));
    const kills = runs.flatMap((run) => run.kills.filter((kill) => kill.target === target));
    const lost = runs.filter(({ losses }) => losses.length > 0).length;
    const writing = kills.filter(({ isWhileWriting }) => isWhileWriting).length;
    const times = kills.flatMap(({ recoveryMs }) => (recoveryMs === null ? [] : [recoveryMs])).sort((a, b) => a - b);
    const [median, worst] = [times[Math.floor(times.length / 2)], times.at(-1)].map(inSeconds);
    return `| SIGKILL of a ${target} | ${kills.length} | ${writing} | ${lost} | ${median} | ${worst} |`;
  }
}

function inSeconds(ms: number | undefined): string {
  return ms === undefined ? '–' : `${(ms / 1000).toFixed(1)} s`;
}
