import { type Ref, ref } from 'vue';
import { useRouter } from 'vue-router';
import type { StudyEnsembleRequest } from '../../../../core/protocol/pages/studies/study-views.ts';
import type { Assignment } from '../../../../core/search/space/space.ts';
import { downloadFrom } from '../../../charts/frame/download.ts';
import { useHub } from '../../../client/use-hub.ts';
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
  const { isBusy, doing } = useDoing();

  return {
    isBusy,
    stop: () => doing(() => hub.stopStudy(id)),
    resume: () => doing(() => hub.resumeStudy(id)),
    addTrials: (count) =>
      doing(async () => {
        await hub.addTrials(id, count);
        await hub.resumeStudy(id);
      }),
    enqueue: (values) =>
      doing(async () => {
        await hub.enqueueTrial(id, { ...values });
        toasts.tell('The study tries these values next.');
      }),
    makeEnsemble: (request) =>
      doing(async () => {
        const made = await hub.ensembleFromStudy(id, request);
        await router.push({ name: 'run', params: { id: made.id } });
      }),
    exportJournal: () =>
      doing(async () => {
        const { path, link } = await hub.exportStudy(id);
        if (link === null) await window.tutti?.saveFile(path);
        else downloadFrom(link);
      }),
    remove: () =>
      doing(async () => {
        await hub.deleteStudy(id);
        await router.push({ name: 'studies' });
      }),
  };
}

/** Runs one action at a time for the buttons that wait for it, and reports its failure. */
function useDoing() {
  const toasts = useToastsStore();
  const isBusy = ref(false);

  async function doing(action: () => Promise<void>): Promise<boolean> {
    let isDone = false;
    isBusy.value = true;
    await toasts.attempt(async () => {
      await action();
      isDone = true;
    });
    isBusy.value = false;
    return isDone;
  }
  return { isBusy, doing };
}
