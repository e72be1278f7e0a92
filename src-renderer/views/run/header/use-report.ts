import { type Ref, ref } from 'vue';
import type { ExportResult } from '../../../../core/protocol/pages/run-data.ts';
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
      await saveExport(await hub.reportRun(id));
    });
    isWriting.value = false;
  }

  return { isWriting, save };
}

/** Downloads a file that the hub wrote, or lets the user of the desktop app choose its place. */
export async function saveExport({ path, link }: Pick<ExportResult, 'path' | 'link'>): Promise<void> {
  if (link === null) await window.tutti?.saveFile(path);
  else downloadFrom(link);
}
