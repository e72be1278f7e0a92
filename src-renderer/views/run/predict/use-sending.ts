import { onScopeDispose, type Ref, ref } from 'vue';
import type { SamplesToPredict } from '../../../../core/protocol/pages/new-samples.ts';
import { useHub } from '../../../client/use-hub.ts';
import { type ChosenFile, sendFile } from './sample-file.ts';

export interface Sending {
  /** How much of a large file was sent, as a share; null while none is being sent. */
  sentShare: Readonly<Ref<number | null>>;
  /** @returns what the hub is to predict @throws Error if the file cannot be sent, or was cancelled */
  send: (chosen: ChosenFile) => Promise<SamplesToPredict>;
  /** Stops sending. */
  cancel: () => void;
}

/** Sends files to the hub while the component lives. */
export function useSending(): Sending {
  const hub = useHub();
  const sentShare = ref<number | null>(null);
  let sending = new AbortController();

  async function send(chosen: ChosenFile): Promise<SamplesToPredict> {
    sending = new AbortController();
    const tell = (sentBytes: number): void => void (sentShare.value = sentBytes / chosen.file.size);
    try {
      return await sendFile(hub, chosen, { tell, signal: sending.signal });
    } finally {
      sentShare.value = null;
    }
  }

  const cancel = (): void => sending.abort(new Error('Sending was cancelled. Nothing was predicted.'));
  onScopeDispose(cancel);
  return { sentShare, send, cancel };
}
