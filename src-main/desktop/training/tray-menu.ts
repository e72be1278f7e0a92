import type { MenuItemConstructorOptions } from 'electron';
import type { TrainingView } from './training-view.ts';

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
