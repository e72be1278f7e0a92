import { nextPiece } from '../../../core/protocol/studies/next-piece.ts';
import type { StudyLog, Work, WorkGroup } from '../../../core/protocol/studies/study-log.ts';
import type { Study } from '../../../core/protocol/studies/study.ts';
import type { NewLine } from '../study-store.ts';

/** A piece of work that has cost so many processes is not tried again: it may be what ends them. */
const mostLosses = 3;

/** What a process does next: the lines that say so, and its pieces of work, which begin together. */
export interface ChosenWork {
  lines: NewLine[];
  works: number[];
  /** Why there are no more pieces; null where there may be. */
  end: 'wait' | 'done' | null;
}

/**
 * Chooses work: pieces that other processes left, or new ones. With several trials in a worker these are a group, of
 * which an interruption may have left a part.
 * @param by the process that takes them, and whether a piece was left
 */
export function chooseWork(
  study: Study,
  log: StudyLog,
  { worker, isLeft }: { worker: string; isLeft: (work: Work) => boolean },
): ChosenWork {
  const first = log.works.find(isLeft);
  if (first === undefined) return newPieces(study, log, worker, null);
  if (first.losses >= mostLosses) return { lines: [giveUp(first)], works: [], end: null };
  const isBeside = ({ number, group }: Work): boolean =>
    number === first.number || (group !== null && group.first === first.group?.first);
  const left = log.works.filter((work) => isLeft(work) && isBeside(work) && work.losses < mostLosses);
  const claims = left.map(({ number: work }): NewLine => ({ type: 'claim', work, worker }));
  const others = first.group === null ? { lines: [], works: [] } : newPieces(study, log, worker, first.group);
  return {
    lines: [...claims, ...others.lines],
    works: [...left.map(({ number }) => number), ...others.works],
    end: null,
  };
}

/** @param joined the group that the pieces must belong to; null: a new one, or what is missing of the newest */
function newPieces(study: Study, log: StudyLog, worker: string, joined: WorkGroup | null): ChosenWork {
  const ahead = log.copy();
  const chosen: ChosenWork = { lines: [], works: [], end: null };
  let group = joined;
  while (chosen.works.length < study.trialsPerWorker) {
    const piece = nextPiece(study, ahead);
    if (piece.kind === 'wait' || piece.kind === 'done') return { ...chosen, end: piece.kind };
    if (group !== null && piece.group?.first !== group.first) return chosen;
    group = piece.group ?? null;
    const { kind: type, ...fields } = piece;
    const line = { type, ...fields, worker } as NewLine;
    ahead.take({ ...line, time: ahead.changedAt });
    chosen.lines.push(line);
    chosen.works.push(piece.work);
  }
  return chosen;
}

function giveUp({ number: work, trial: number, losses }: Work): NewLine {
  const error = `${losses + 1} processes ended while they trained this trial, so it is not tried again.`;
  return { type: 'end', work, number, state: 'failed', objectives: null, error };
}
