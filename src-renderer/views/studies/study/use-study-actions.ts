import type { Ref } from 'vue';
import { useRouter } from 'vue-router';
import type { StudyEnsembleRequest } from '../../../../core/protocol/pages/study-views.ts';
import type { Assignment } from '../../../../core/studies/space/space.ts';
import { downloadFrom } from '../../../charts/frame/download.ts';
import { useHub } from '../../../client/use-hub.ts';
import { useToastAction } from '../../../composables/use-action.ts';
import { useToastsStore } from '../../../stores/toasts.ts';

/** What the user can do with a study. Each returns whether it succeeded; a failure is told in a toast. */
export interface StudyActions {
  /** Whether the hub has not answered the last one yet. */
  isBusy: Readonly<Ref<boolean>>;
  stop(): Promise<boolean>;
  resume(): Promise<boolean>;
  addTrials(count: number): Promise<boolean>;
  enqueue(values: Assignment): Promise<boolean>;
  makeEnsemble(request: StudyEnsembleRequest): Promise<boolean>;
  /** Writes an Optuna journal and downloads it; in the desktop app the system's dialog asks for its place. */
  exportJournal(): Promise<boolean>;
  remove(): Promise<boolean>;
}

export function useStudyActions(id: string): StudyActions {
  const hub = useHub();
  const router = useRouter();
  const toasts = useToastsStore();
  const { isBusy, act } = useToastAction();

  return {
    isBusy,
    stop: () => act(() => hub.stopStudy(id)),
    resume: () => act(() => hub.resumeStudy(id)),
    addTrials: (count) =>
      act(async () => {
        await hub.addTrials(id, count);
        await hub.resumeStudy(id);
      }),
    enqueue: (values) =>
      act(async () => {
        await hub.enqueueTrial(id, { ...values });
        toasts.tell('The study tries these values next.');
      }),
    makeEnsemble: (request) =>
      act(async () => {
        const made = await hub.ensembleFromStudy(id, request);
        await router.push({ name: 'run', params: { id: made.id } });
      }),
    exportJournal: () =>
      act(async () => {
        const { path, link } = await hub.exportStudy(id);
        if (link === null) await window.tutti?.saveFile(path);
        else downloadFrom(link);
      }),
    remove: () =>
      act(async () => {
        await hub.deleteStudy(id);
        await router.push({ name: 'studies' });
      }),
  };
}
