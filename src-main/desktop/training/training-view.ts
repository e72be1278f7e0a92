import type { MenuItemConstructorOptions } from 'electron';
import type { TrainingRun } from '../../hub/training-work.ts';

/** What the app shows of its training outside of its windows. */
export interface TrainingView {
  /** Lines of the tray's menu, one for each run. */
  lines: { id: string; text: string }[];
  /** The tray's tooltip. */
  summary: string;
  /**
   * The share of the bar on the taskbar's button or the dock's icon, from 0 to 1; `unknown` while nobody knows how far
   * it is; null: no bar.
   */
  bar: { share: number | 'unknown'; isPaused: boolean } | null;
  /** Number of runs, on the app's icon. */
  badge: number;
}

/** More lines would fill the screen. */
const mostLines = 10;

/**
 * @param runs the runs that train in this process
 * @param count what trains in this process: these runs, sweeps between two runs, studies, searches
 * @param waiting the runs that wait for this process to start them
 */
export function viewTraining(runs: readonly TrainingRun[], count: number, waiting = 0): TrainingView {
  if (count === 0) {
    const summary = waiting === 0 ? 'Tutti' : `Tutti: ${waiting === 1 ? 'a run waits' : `${waiting} runs wait`}`;
    return { lines: [], summary, bar: null, badge: 0 };
  }
  const lines = runs.slice(0, mostLines).map((run) => ({ id: run.id, text: `${shorten(run.name)}: ${describe(run)}` }));
  return { lines, summary: summarize(runs, count), bar: barOf(runs), badge: Math.max(runs.length, 1) };
}

/** What a notification says once the windows are closed while something trains or waits. */
export function noticeOfWork(count: number, waiting: number): { title: string; body: string } {
  const trains = count === 0 ? [] : [count === 1 ? 'A run continues' : `${count} runs continue`];
  const waits = waiting === 0 ? [] : [waiting === 1 ? 'a run waits in the queue' : `${waiting} runs wait in the queue`];
  const parts = [...trains, ...waits];
  const what = `${parts.join(' and ')}${parts.length > 1 ? ',' : ''}`;
  return {
    title: count === 0 ? 'Tutti waits to train' : 'Tutti keeps training',
    body:
      `${what[0].toUpperCase()}${what.slice(1)} without a window. Start Tutti again to see ` +
      `${count + waiting === 1 ? 'it' : 'them'}.`,
  };
}

function describe({ share, isPaused }: TrainingRun): string {
  const done = share === null ? 'starting' : formatShare(share);
  return isPaused ? `${done}, paused` : done;
}

function summarize(runs: readonly TrainingRun[], count: number): string {
  if (runs.length === 0)
    return count === 1 ? 'Tutti: a study or a search trains' : `Tutti: ${count} studies or searches train`;
  const [first] = runs;
  if (runs.length === 1) return `Tutti: ${shorten(first.name)}, ${describe(first)}`;
  const shares = runs.flatMap(({ share }) => share ?? []);
  const least = shares.length === runs.length ? `, at least ${formatShare(Math.min(...shares))}` : '';
  return `Tutti: ${runs.length} runs train${least}`;
}

/** The mean over all runs. It shows a pause only once all are paused. */
function barOf(runs: readonly TrainingRun[]): TrainingView['bar'] {
  const isPaused = runs.length > 0 && runs.every((run) => run.isPaused);
  if (runs.every(({ share }) => share === null)) return { share: 'unknown', isPaused };
  const sum = runs.reduce((total, { share }) => total + (share ?? 0), 0);
  return { share: sum / runs.length, isPaused };
}

/** Rounded down: only a run that has done all its steps shows 100 %. */
function formatShare(share: number): string {
  return `${Math.floor(share * 100)} %`;
}

function shorten(name: string): string {
  return name.length <= 40 ? name : `${name.slice(0, 39)}…`;
}

export interface TrayActions {
  /** Shows a run in a window; null: the window alone. */
  showRun: (id: string | null) => void;
  quit: () => void;
}

/** The tray's menu. Each run opens its page. */
export function trayMenu(
  { lines, summary }: Pick<TrainingView, 'lines' | 'summary'>,
  { showRun, quit }: TrayActions,
): MenuItemConstructorOptions[] {
  const runs = lines.map(({ id, text }) => ({ label: text.replaceAll('&', '&&'), click: () => showRun(id) }));
  const none = [{ label: summary.replaceAll('&', '&&'), enabled: false }];
  return [
    ...(runs.length > 0 ? runs : none),
    { type: 'separator' },
    { label: 'Open Tutti', click: () => showRun(null) },
    { label: 'Quit', click: quit },
  ];
}

/**
 * The tray's icon as SVG: Tutti's mark, with a ring around it that closes as training goes on.
 * @param share from 0 to 1; null while nobody knows it
 */
export function trayIcon(share: number | null): string {
  const circumference = 2 * Math.PI * radius;
  const done = (share ?? 0) * circumference;
  const ring = `cx="16" cy="16" r="${radius}" fill="none" stroke-width="3.5"`;
  return [
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">',
    `<circle ${ring} stroke="#8a94a6"/>`,
    `<circle ${ring} stroke="#4d8dff" stroke-dasharray="${done.toFixed(2)} ${circumference.toFixed(2)}" ` +
      `transform="rotate(-90 16 16)"/>`,
    '<g fill="none" stroke="#4d8dff" stroke-linecap="round"><path d="M8 11c6 0 7 5 12 5" stroke-width="2"/>',
    '<path d="M8 21c6 0 7-5 12-5" stroke-width="2"/><path d="M8 16h12" stroke-width="2"/><path d="M19 16h5" ' +
      'stroke-width="3.5"/></g>',
    '</svg>',
  ].join('');
}

const radius = 14;
