import { stat } from 'node:fs/promises';
import {
  type InspectProgress,
  type InspectReply,
  type InspectTask,
  inspectTaskSchema,
} from '../../core/protocol/run/inspect-task.ts';
import { messageOf } from '../../core/text/errors.ts';
import { profileImages } from '../data/images/profile-images.ts';
import { profileTable } from '../data/tables/profile-table.ts';
import { stackOf } from '../project/explain-error.ts';
import { questionOfHub, replyToHub, tellHub } from '../session/hub-link.ts';

/** Entry of the process that inspects a file of data or a folder of images. It runs no project's code. */

const reply: (message: InspectReply) => void = replyToHub;
const tell = (progress: InspectProgress): void => tellHub({ type: 'progress', ...progress });

async function inspect({
  path,
  reading: { maximum, splitFolders, ...reading },
  ...columns
}: InspectTask): Promise<InspectReply> {
  if ((await stat(path)).isDirectory()) {
    return { type: 'inspected', profile: await profileImages(path, { maximum, splitFolders }) };
  }
  return { type: 'inspected', profile: await profileTable(path, { ...reading, ...columns }, tell) };
}

try {
  reply(await inspect(inspectTaskSchema.parse(await questionOfHub())));
} catch (error) {
  reply({ type: 'failed', message: messageOf(error), stack: stackOf(error) });
}
