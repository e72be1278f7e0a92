import { type Ref, ref } from 'vue';
import { downloadFrom } from '../../../charts/frame/download.ts';
import { useHub } from '../../../client/use-hub.ts';
import { useToastsStore } from '../../../stores/toasts.ts';

export interface ReportDownload {
  isWriting: Readonly<Ref<boolean>>;
  /** Has the report written, then downloads it; in the desktop app the system's dialog asks for its place. */
  save(): Promise<void>;
}

/** The report of a run as one HTML file. */
export function useReport(id: string): ReportDownload {
  const hub = useHub();
  const toasts = useToastsStore();
  const isWriting = ref(false);

  async function save(): Promise<void> {
    isWriting.value = true;
    await toasts.attempt(async () => {
      const { path, link } = await hub.reportRun(id);
      if (link === null) await window.tutti?.saveFile(path);
      else downloadFrom(link);
    });
    isWriting.value = false;
  }

  return { isWriting, save };
}
