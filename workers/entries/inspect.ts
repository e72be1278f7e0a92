import { stat } from 'node:fs/promises';
import {
  type FileProfile,
  type InspectProgress,
  type InspectReply,
  type InspectTask,
  inspectTaskSchema,
} from '../../core/protocol/run/inspect-task.ts';
import { messageOf } from '../../core/text/errors.ts';
import { profileImages, profileNamedImages } from '../data/images/profile-images.ts';
import { inspectTable } from '../data/tables/profile-table.ts';
import { stackOf } from '../project/explain-error.ts';
import { questionOfHub, replyToHub, tellHub } from '../session/hub-link.ts';

/** Entry of the process that inspects a file of data or a folder of images. It runs no project's code. */

const reply: (message: InspectReply) => void = replyToHub;
const tell = (progress: InspectProgress): void => tellHub({ type: 'progress', ...progress });

async function inspect({ path, reading, ...columns }: InspectTask): Promise<FileProfile> {
  const { maximum, splitFolders, images, ...written } = reading;
  if ((await stat(path)).isDirectory()) return profileImages(path, { maximum, splitFolders });
  const table = await inspectTable(path, { ...columns, ...written }, tell);
  if (images === undefined) return table.profile;
  const about = { file: path, images, isSaid: columns.image !== undefined, maximum, splitFolders };
  return (await profileNamedImages(table, about)) ?? table.profile;
}

try {
  reply({ type: 'inspected', profile: await inspect(inspectTaskSchema.parse(await questionOfHub())) });
} catch (error) {
  reply({ type: 'failed', message: messageOf(error), stack: stackOf(error) });
}
