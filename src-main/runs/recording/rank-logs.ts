import { existsSync } from 'node:fs';
import type { RunEvent } from '../../../core/protocol/run/record.ts';
import type { PointBatch } from '../../../core/protocol/wire/points.ts';
import { countEpoch, formatMetric, metricLabel } from '../../../core/text/numbers.ts';
import { LogFile, type LogFileOptions } from './log-file.ts';

/** Kinds of events that are about the run, whichever rank says them. */
const ofRun = new Set(['described']);

/**
 * The logs of an attempt's ranks, with what the hub notes in them beside the output of the workers: where a rank
 * trains, the events of the rank and of the run, and one line for each evaluation. So the log of a project that prints
 * nothing tells how its training went.
 */
export class RankLogs {
  readonly #folder: string;
  readonly #options: LogFileOptions;
  readonly #logs = new Map<number, LogFile>();

  /** @param folder of the logs */
  constructor(folder: string, options: LogFileOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  /** Opens a rank's log. The caller closes it. @param start what its first line says */
  open(rank: number, start: string): LogFile {
    const log = new LogFile(this.#folder, rank, this.#options);
    log.note(start);
    this.#logs.set(rank, log);
    return log;
  }

  event({ rank, kind, message }: Pick<RunEvent, 'rank' | 'kind' | 'message'>): void {
    const isOfAll = rank === null || ofRun.has(kind);
    for (const [own, log] of this.#logs) if (isOfAll || own === rank) log.note(message);
  }

  /**
   * Notes the evaluations among a rank's points.
   * @param monitor the ensemble's metric, `val/ens_nll`; null until it is known
   */
  points(rank: number, batch: PointBatch, monitor: string | null): void {
    const log = this.#logs.get(rank);
    if (log === undefined || monitor === null) return;
    for (const line of describeEvaluations(rank, batch, monitor)) log.note(line);
  }

  /** Notes how the attempt ended, after the logs have been closed. */
  async end(message: string): Promise<void> {
    // Nobody wants the folder of a deleted run back.
    if (!existsSync(this.#folder)) return;
    const logs = [...this.#logs.keys()].map((rank) => new LogFile(this.#folder, rank, this.#options));
    for (const log of logs) log.note(message);
    await Promise.all(logs.map((log) => log.close()));
  }
}

/**
 * `Evaluation after epoch 3, step 120: member 1 NLL 0.5120, ens NLL 0.4101`: one for each step with values of the
 * monitored metric.
 */
export function describeEvaluations(rank: number, batch: PointBatch, monitor: string): string[] {
  const { names, nameIndex, value, epoch, step } = batch;
  const member = monitor.replace(/\/(ens|product)_/, `/member_${rank}_`);
  const wanted = [...new Set([member, monitor])].flatMap((name) => (names.includes(name) ? [names.indexOf(name)] : []));
  const points = Array.from(nameIndex.keys()).filter((i) => wanted.includes(nameIndex[i]));
  return [...Map.groupBy(points, (i) => step[i])].map(([own, found]) => {
    const ordered = found.toSorted((left, right) => wanted.indexOf(nameIndex[left]) - wanted.indexOf(nameIndex[right]));
    const values = ordered.map((i) => `${metricLabel(names[nameIndex[i]])} ${formatMetric(value[i])}`);
    return `Evaluation after epoch ${countEpoch(epoch[found[0]])}, step ${own}: ${values.join(', ')}`;
  });
}
