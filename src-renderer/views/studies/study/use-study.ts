import { onScopeDispose, type ShallowRef, shallowRef } from 'vue';
import type { StudyChange, StudyView } from '../../../../core/protocol/pages/study-views.ts';
import { messageOf } from '../../../../core/text/errors.ts';
import { useHubClient } from '../../../client/use-hub.ts';

export interface FollowedStudy {
  /** Null until the first answer. */
  view: Readonly<ShallowRef<StudyView | null>>;
  error: Readonly<ShallowRef<string | null>>;
  reload(): Promise<void>;
}

/** A study, live while the component exists. */
export function useStudy(id: string): FollowedStudy {
  const client = useHubClient();
  const view = shallowRef<StudyView | null>(null);
  const error = shallowRef<string | null>(null);
  /** Changes that arrive while the study is read: they are applied afterwards. */
  let waiting: StudyChange[] = [];
  let isReading = false;
  let turn = 0;

  async function reload(): Promise<void> {
    const own = ++turn;
    waiting = [];
    isReading = true;
    try {
      // Watched first, so that nothing is missed in between.
      await client.hub.watchStudy(id);
      const found = await client.hub.study(id);
      if (own !== turn) return;
      view.value = waiting.reduce(withChange, found);
      error.value = null;
    } catch (reason) {
      if (own === turn) error.value = messageOf(reason);
    }
    if (own === turn) isReading = false;
  }

  const unsubscribe = [
    client.on('studyChanged', (changed, change) => {
      if (changed !== id) return;
      if (isReading) waiting.push(change);
      else if (view.value !== null) view.value = withChange(view.value, change);
    }),
    client.on('returned', () => void reload()),
  ];
  onScopeDispose(() => {
    for (const stop of unsubscribe) stop();
    turn += 1;
    // A hub that cannot be reached has no subscribers any more.
    client.hub.unwatchStudy(id).catch(() => undefined);
  });
  void reload();
  return { view, error, reload };
}

/** The study after a change. Trials stay in the order of their numbers. */
export function withChange(view: StudyView, { summary, trials, enqueued }: StudyChange): StudyView {
  const byNumber = new Map(view.trials.map((trial) => [trial.number, trial]));
  for (const trial of trials) byNumber.set(trial.number, trial);
  const sorted = [...byNumber.values()].toSorted((left, right) => left.number - right.number);
  return { ...view, summary, enqueued, trials: sorted };
}
