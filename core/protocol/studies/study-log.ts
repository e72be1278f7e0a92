import type { Assignment } from '../../studies/space/space.ts';
import type { Report, Trial, TrialState } from '../../studies/trial.ts';
import type { Part, Score, StudyLine } from './study-line.ts';

/** Pieces of work that begin together, in one process. */
export interface WorkGroup {
  /** The number of the first of them. */
  first: number;
  /** They know the results of so many pieces, from the first of the study on. */
  known: number;
}

/** A trial as far as it goes in one go, and who does it. */
export interface Work {
  readonly number: number;
  readonly trial: number;
  /** Steps after which it pauses; null: it goes to its end. */
  readonly until: number | null;
  /** Which pieces begin together with it; null: none. */
  readonly group: WorkGroup | null;
  /** The process that does it; null after it gave the work back. */
  worker: string | null;
  /** How often a process was lost that did it. */
  losses: number;
  /** Reports that came with it. */
  readonly reports: Report[];
  /** How it ended; null before. */
  end: { state: TrialState; objectives: number[] | null } | null;
}

export interface LoggedRun {
  part: Part;
  run: string;
  ranks: number[] | null;
  devices: string[];
  startedAt: string;
  endedAt: string | null;
  scores: Score[];
}

/** A trial with all that the log says of it. */
export interface LoggedTrial extends Trial {
  isEnqueued: boolean;
  isImported: boolean;
  runs: LoggedRun[];
  startedAt: string;
  endedAt: string | null;
  error: string | null;
}

/**
 * The state of a study after the lines of its `trials.jsonl` so far. Lines that cannot follow on those before change
 * nothing.
 */
export class StudyLog {
  readonly works: Work[] = [];
  /** The trials; the index is the trial's number. */
  readonly trials: LoggedTrial[] = [];
  /** Values that wait to be tried, the next first. */
  readonly enqueued: Assignment[] = [];
  /** Number of trials that the study is to have, without imported ones. */
  wanted = 0;
  /** How often it was stopped. */
  stops = 0;
  /** Time of the last line; empty before the first. */
  changedAt = '';
  #imported = 0;

  /** How many more trials begin. */
  get left(): number {
    return Math.max(0, this.wanted - (this.trials.length - this.#imported));
  }

  /** The same state, which can go on differently. */
  copy(): StudyLog {
    const copy = new StudyLog();
    copy.works.push(...this.works.map((work) => ({ ...work })));
    copy.trials.push(...this.trials.map((trial) => ({ ...trial })));
    copy.enqueued.push(...this.enqueued);
    copy.wanted = this.wanted;
    copy.stops = this.stops;
    copy.changedAt = this.changedAt;
    copy.#imported = this.#imported;
    return copy;
  }

  /** @returns whether the line follows on those before */
  take(line: StudyLine): boolean {
    if (!this.#apply(line)) return false;
    this.changedAt = line.time;
    return true;
  }

  #apply(line: StudyLine): boolean {
    switch (line.type) {
      case 'begin':
        return this.#begin(line);
      case 'resume':
        return this.#resume(line);
      case 'imported':
        return this.#import(line);
      case 'claim':
      case 'release':
        return this.#hand(line);
      case 'run':
      case 'scores':
      case 'report':
        return this.#follow(line);
      case 'end':
        return this.#end(line);
      case 'enqueued':
        return this.enqueued.push(line.values) > 0;
      case 'trials':
        this.wanted = line.count;
        return true;
      case 'stop':
        return ++this.stops > 0;
    }
  }

  #begin(line: Extract<StudyLine, { type: 'begin' }>): boolean {
    const { work, number, values, isEnqueued, until, group, worker, time } = line;
    if (work !== this.works.length || number !== this.trials.length) return false;
    this.works.push({
      number: work,
      trial: number,
      until,
      group: group ?? null,
      worker,
      losses: 0,
      reports: [],
      end: null,
    });
    this.trials.push({ ...newTrial(number, values, time), isEnqueued });
    if (isEnqueued) this.enqueued.shift();
    return true;
  }

  #resume({ work, number, until, group, worker }: Extract<StudyLine, { type: 'resume' }>): boolean {
    const trial = this.trials.at(number);
    if (work !== this.works.length || trial?.state !== 'paused') return false;
    this.works.push({
      number: work,
      trial: number,
      until,
      group: group ?? null,
      worker,
      losses: 0,
      reports: [],
      end: null,
    });
    trial.state = 'running';
    // Each of its runs goes on.
    trial.runs = trial.runs.map((run) => ({ ...run, endedAt: null }));
    return true;
  }

  #import({ work, trial, time }: Extract<StudyLine, { type: 'imported' }>): boolean {
    if (work !== this.works.length || trial.number !== this.trials.length) return false;
    const { state, objectives, reports } = trial;
    const end = { state, objectives };
    const imported = {
      number: work,
      trial: trial.number,
      until: null,
      group: null,
      worker: null,
      losses: 0,
      reports,
      end,
    };
    this.works.push(imported);
    this.trials.push({ ...newTrial(trial.number, trial.values, time), ...trial, isImported: true, endedAt: time });
    this.#imported++;
    return true;
  }

  #hand(line: Extract<StudyLine, { type: 'claim' | 'release' }>): boolean {
    const work = this.#open(line.work);
    if (work === null) return false;
    if (line.type === 'release') work.worker = null;
    else {
      if (work.worker !== null) work.losses++;
      work.worker = line.worker;
    }
    return true;
  }

  #follow(line: Extract<StudyLine, { type: 'run' | 'scores' | 'report' }>): boolean {
    const trial = this.trials.at(line.number);
    const work = this.works.findLast((one) => one.trial === line.number);
    if (trial === undefined || work === undefined || work.end !== null) return false;
    if (line.type === 'report') return addReport(trial, work, { step: line.step, value: line.value });
    const index = trial.runs.findIndex(({ part }) => isSame(part, line.part));
    if (line.type === 'run') {
      const { part, run, ranks, devices, time } = line;
      const begun = { part, run, ranks, devices, startedAt: time, endedAt: null, scores: [] };
      if (index < 0) trial.runs.push(begun);
      else trial.runs[index] = { ...begun, startedAt: trial.runs[index].startedAt };
      return true;
    }
    if (index < 0) return false;
    trial.runs[index] = { ...trial.runs[index], endedAt: line.time, scores: line.scores };
    return true;
  }

  #end({ work: number, state, objectives, error, time }: Extract<StudyLine, { type: 'end' }>): boolean {
    const work = this.#open(number);
    const trial = work === null ? undefined : this.trials.at(work.trial);
    if (work === null || trial === undefined) return false;
    work.end = { state, objectives };
    work.worker = null;
    Object.assign(trial, { state, objectives, error, endedAt: state === 'paused' ? null : time });
    return true;
  }

  /** A piece of work that has not ended. */
  #open(number: number): Work | null {
    const work = this.works.at(number);
    return work === undefined || work.end !== null ? null : work;
  }
}

function newTrial(number: number, values: Assignment, startedAt: string): LoggedTrial {
  return {
    number,
    state: 'running',
    values: { ...values },
    objectives: null,
    reports: [],
    isEnqueued: false,
    isImported: false,
    runs: [],
    startedAt,
    endedAt: null,
    error: null,
  };
}

/** A run that was repeated after a loss reports the same again. */
function addReport(trial: LoggedTrial, work: Work, report: Report): boolean {
  if (!trial.reports.some(({ step }) => step === report.step)) {
    trial.reports.push(report);
    work.reports.push(report);
  }
  return true;
}

export function isSame(one: Part, other: Part): boolean {
  return one.split === other.split && one.seed === other.seed;
}
