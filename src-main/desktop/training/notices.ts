import { Notification } from 'electron';
import { endedIds, noticeOfEnd } from '../../../core/protocol/pages/notice.ts';
import type { HubService } from '../../rpc/hub-service.ts';

export interface NoticeParts {
  runs: HubService['runs'];
  /** Shows a run in a window; null: the window alone. */
  showRun: (id: string | null) => void;
  onError: (error: unknown) => void;
}

/** The system's notifications: a run has ended, or training goes on without a window. */
export class Notices {
  readonly #parts: NoticeParts;
  /** Notifications that can still be clicked. Their events only arrive while they are referenced. */
  readonly #shown = new Set<Notification>();
  readonly #end: () => void;

  private constructor(parts: NoticeParts, end: () => void) {
    this.#parts = parts;
    this.#end = end;
  }

  /** Tells from now on which runs of this home end, whichever process trains them. */
  static async open(parts: NoticeParts): Promise<Notices> {
    const { runs, onError } = parts;
    let { active } = await runs.overview();
    const notices = new Notices(
      parts,
      runs.subscribe(({ overview }) => {
        if (overview === null) return;
        const ended = endedIds(active, overview.active);
        active = overview.active;
        if (ended.length > 0) notices.#tellEnds(ended).catch(onError);
      }),
    );
    return notices;
  }

  /** @param run the run to show when the notification is clicked; null for none */
  show(title: string, body: string, run: string | null): void {
    if (!Notification.isSupported()) return;
    const notification = new Notification({ title, body });
    notification.on('click', () => this.#parts.showRun(run));
    notification.on('failed', (_event, error) =>
      console.error(`The system did not show the notification "${title}"${error === '' ? '' : `: ${error}`}.`),
    );
    notification.on('close', () => this.#shown.delete(notification));
    this.#shown.add(notification);
    notification.show();
  }

  close(): void {
    this.#end();
  }

  async #tellEnds(ids: string[]): Promise<void> {
    const { rows } = await this.#parts.runs.page({ ids });
    for (const { id, title, body } of rows.map(noticeOfEnd)) this.show(title, body, id);
  }
}
