import { onScopeDispose, type Ref, ref, shallowRef } from 'vue';
import type { DataFile, Inspected, Inspection } from '../../../core/protocol/pages/new-project.ts';
import { maximumUploadBytes, maximumUploadFiles } from '../../../core/protocol/pages/new-samples.ts';
import { tableOf } from '../../../core/protocol/run/inspect-task.ts';
import { messageOf } from '../../../core/text/errors.ts';
import { formatBytes } from '../../../core/text/numbers.ts';
import type { HubClient, HubEvents } from '../../client/hub-client.ts';
import { type ChosenFolder, sendInParts } from '../../client/upload.ts';
import { useHub, useHubClient } from '../../client/use-hub.ts';
import { useSessionStore } from '../../stores/session.ts';

/** A file or folder that the user chose, or a path on the machine that runs Tutti. */
export type DataSource = File | ChosenFolder | string;

/** How a file is to be understood. */
export type Understanding = Omit<Inspection, 'file'>;

export interface FileInspection extends Inspected {
  /** Tells one chosen file from the next. */
  id: number;
  file: DataFile;
  understanding: Understanding;
}

/** The name of the file or the folder of images. */
export const dataName = ({ profile }: Pick<Inspected, 'profile'>): string =>
  tableOf(profile)?.reading.file ?? (profile.kind === 'images' ? profile.folder : '');

export interface UsedDataFile {
  /** What was found out last; null: nothing yet. */
  inspection: Readonly<Ref<FileInspection | null>>;
  error: Readonly<Ref<string | null>>;
  /** What is under way, for people; null: nothing. */
  doing: Readonly<Ref<string | null>>;
  begin(source: DataSource): Promise<void>;
  /** Reads the file again. */
  inspect(understanding: Understanding): Promise<void>;
  /** Does again what failed. */
  retry(): Promise<void>;
  cancel(): Promise<void>;
}

/** The file of data that the page makes a project from. What was sent of it is dropped with the page. */
export function useDataFile(): UsedDataFile {
  const client = useHubClient();
  const { hub } = client;
  const { error, doing, act, retry } = useLatest();
  const { current, give, drop, stop } = useGivenFile();
  const inspection = shallowRef<FileInspection | null>(null);
  let id = 0;

  async function read(file: DataFile, understanding: Understanding, isLatest: () => boolean): Promise<void> {
    const found = await inspectData(client, { file, ...understanding }, ({ doing: what, sample }) => {
      if (!isLatest()) return;
      doing.value = `Reading the file: ${what}`;
      if (sample !== null) inspection.value = { profile: sample, folder: '', id, file, understanding };
    });
    if (isLatest()) inspection.value = { ...found, id, file, understanding };
  }

  async function begin(source: DataSource): Promise<void> {
    inspection.value = null;
    id++;
    await act('Reading the data…', async (isLatest) => {
      const tell = (text: string): void => {
        if (isLatest()) doing.value = text;
      };
      const file = await give(source, tell);
      tell('Reading the data…');
      await read(file, { reading: {} }, isLatest);
    });
  }

  async function inspect(understanding: Understanding): Promise<void> {
    const file = current();
    if (file !== null) await act('Reading the data again…', (isLatest) => read(file, understanding, isLatest));
  }

  async function cancel(): Promise<void> {
    stop('Sending the file was cancelled.');
    await hub.stopInspecting();
  }

  onScopeDispose(() => void drop());
  return { inspection, error, doing, begin, inspect, retry, cancel };
}

/** @param tell called with how far it is, and of a large file first with what its beginning shows */
async function inspectData(
  client: HubClient,
  inspection: Inspection,
  tell: HubEvents['inspecting'],
): Promise<Inspected> {
  // Then nothing comes any more of the inspection before.
  await client.hub.stopInspecting();
  const stopListening = client.on('inspecting', tell);
  try {
    return await client.hub.inspectData(inspection);
  } finally {
    stopListening();
  }
}

/** Work of which the latest counts: what it does, why it failed, and how it is done again. */
function useLatest() {
  const error = ref<string | null>(null);
  const doing = ref<string | null>(null);
  let last: () => Promise<void> = async () => undefined;
  let turn = 0;

  async function act(what: string, work: (isLatest: () => boolean) => Promise<void>): Promise<void> {
    const own = ++turn;
    const isLatest = (): boolean => own === turn;
    last = () => act(what, work);
    error.value = null;
    doing.value = what;
    try {
      await work(isLatest);
    } catch (reason) {
      if (isLatest()) error.value = messageOf(reason);
    }
    if (isLatest()) doing.value = null;
  }

  return { error, doing, act, retry: () => last() };
}

/** The one file that the hub can read: by its path, or because this page has sent it. */
function useGivenFile() {
  const hub = useHub();
  const session = useSessionStore();
  let file: DataFile | null = null;
  let sending = new AbortController();
  const stop = (why: string): void => sending.abort(new Error(why));

  /** Gives the hub a file in place of the one before. @param tell called with how much was sent */
  async function give(source: DataSource, tell: (text: string) => void): Promise<DataFile> {
    await drop();
    file = typeof source === 'string' ? { path: source } : await fileOf(source, tell);
    return file;
  }

  async function fileOf(source: File | ChosenFolder, tell: (text: string) => void): Promise<DataFile> {
    // A file that is on no disk has the path ''.
    const path = source instanceof File ? (window.tutti?.pathOf(source) ?? '') : '';
    return path === '' ? { upload: await send(source, tell) } : { path };
  }

  async function send(chosen: File | ChosenFolder, tell: (text: string) => void): Promise<string> {
    const files = chosen instanceof File ? [chosen] : chosen.files.map((own) => own.file);
    const size = files.reduce((sum, own) => sum + own.size, 0);
    if (size === 0) throw new Error(`${chosen.name} is empty, or a folder. Choose a table or a folder of images.`);
    if (size > maximumUploadBytes || files.length > maximumUploadFiles) {
      throw new Error(
        `${chosen.name} has ${formatBytes(size)} in ${files.length} files, and a page sends at most ` +
          `${formatBytes(maximumUploadBytes)} in ${maximumUploadFiles} files. Give its path, or use ` +
          `\`${session.program} create <folder> --from <path>\`, which needs no copy.`,
      );
    }
    sending = new AbortController();
    const { signal } = sending;
    const tellBytes = (sent: number): void => tell(`${formatBytes(sent)} of ${formatBytes(size)} sent`);
    const sent = chosen instanceof File ? { ending: null, file: chosen } : chosen;
    return sendInParts(hub, sent, { tell: tellBytes, signal });
  }

  async function drop(): Promise<void> {
    stop('Another file was chosen.');
    const dropped = file;
    file = null;
    if (dropped !== null && 'upload' in dropped) await hub.dropUpload(dropped.upload);
  }

  return { current: () => file, give, drop, stop };
}
