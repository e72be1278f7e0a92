import type { RankView, RunView } from '../../core/protocol/pages/rpc.ts';
import { type EvaluatedSet, ownSummary, type RunEvent } from '../../core/protocol/run/record.ts';
import type { RunUpdate } from '../../core/protocol/pages/run-updates.ts';

/** What a run looks like after one update; points and loads are kept elsewhere (`metric-columns.ts`, `device-loads.ts`). */
export function applyUpdate(view: RunView, update: Exclude<RunUpdate, { type: 'points' | 'device-loads' }>): RunView {
  switch (update.type) {
    case 'record':
    case 'ended':
      return withRecord(view, update.record);
    case 'described':
      return { ...view, totalSteps: update.about.totalSteps, ensembleMonitor: update.about.ensembleMonitor };
    case 'worker': {
      const { state, epoch, step, pid } = update;
      return withRank(view, update.rank, { state, epoch, step, pid });
    }
    case 'progress': {
      const { epoch, step, samplesPerSecond, memoryBytes } = update;
      const totalSteps = Math.max(view.totalSteps ?? 0, update.totalSteps);
      return withRank({ ...view, totalSteps }, update.rank, { epoch, step, samplesPerSecond, memoryBytes });
    }
    case 'event':
      return withEvent(view, update.event);
    case 'warning':
      return view.warnings.includes(update.message) ? view : { ...view, warnings: [...view.warnings, update.message] };
    case 'evaluated':
      return withEvaluatedSet(view, update.set);
    // The list of checkpoints is not a part of the view.
    case 'checkpoint':
    default:
      return view;
  }
}

function withRecord(view: RunView, record: RunView['record']): RunView {
  const { status, endedAt, error } = record;
  const best = ownSummary(record)?.best ?? view.row.best;
  const row = { ...view.row, status, endedAt, error: error?.message ?? null, best };
  return { ...view, record, row };
}

/** An event may come twice: as read from disk, and as an update that was under way meanwhile. */
function withEvent(view: RunView, event: RunEvent): RunView {
  const { time, rank, kind, message } = event;
  const isKnown = view.events.some(
    (known) => known.time === time && known.rank === rank && known.kind === kind && known.message === message,
  );
  return isKnown ? view : { ...view, events: [...view.events, event] };
}

function withEvaluatedSet(view: RunView, found: EvaluatedSet): RunView {
  const others = view.evaluatedSets.filter(({ set, split }) => set !== found.set || split !== found.split);
  return { ...view, evaluatedSets: [...others, found] };
}

function withRank(view: RunView, rank: number, changes: Partial<RankView>): RunView {
  return { ...view, ranks: view.ranks.map((one) => (one.rank === rank ? { ...one, ...changes } : one)) };
}
