import v8 from 'node:v8';
import { questionOfHub, replyToHub } from '../../../workers/session/hub-link.ts';
import { writeVersion16 } from './version-16.ts';

/** For `ask-process.test.ts`: answers with the question, and with what V8 says to the bytes of a newer V8 in it. */
writeVersion16();
const question = (await questionOfHub()) as { newer: Uint8Array };
let refusal: string | null = null;
try {
  v8.deserialize(question.newer);
} catch (error) {
  refusal = String(error);
}
replyToHub({ ...question, refusal });
