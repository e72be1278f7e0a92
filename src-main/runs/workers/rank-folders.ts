import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Launch } from '../../../core/protocol/run/messages.ts';

/** Folders that the ranks of a run may write. */
export type RankFolders = Pick<Launch, 'scratchFolder' | 'overflowFolder'>;

/**
 * The folders for files that ranks share, within those of the process. Later waves reuse them. They are emptied for a run's first wave, because a host's folders
 * served other runs, and for a restart, because a killed rank may have left parts. The folder itself stays: processes were granted this one.
 */
export async function foldersOfRanks(
  { scratchFolder, overflowFolder }: RankFolders,
  isFresh: boolean,
): Promise<RankFolders> {
  const within = async (parent: string): Promise<string> => {
    const folder = join(parent, 'ranks');
    await mkdir(folder, { recursive: true });
    const left = isFresh ? await readdir(folder) : [];
    for (const name of left) await rm(join(folder, name), { recursive: true });
    return folder;
  };
  return {
    scratchFolder: await within(scratchFolder),
    overflowFolder: overflowFolder === null ? null : await within(overflowFolder),
  };
}
