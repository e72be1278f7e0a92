import { onQuestion, tellHub } from '../../../workers/session/hub-link.ts';

/**
 * For `standing-process.test.ts`: answers each question with its process and how many there were, and ends itself when
 * told to.
 */
let questions = 0;
onQuestion((message) => {
  if ((message as { end?: boolean }).end === true) {
    console.log('told to end');
    process.exit(3);
  }
  const { compute = false, wait = false } = message as { compute?: boolean; wait?: boolean };
  if (compute) for (;;);
  if (wait) return;
  questions += 1;
  tellHub({ type: 'progress', questions, doing: 'counting' });
  tellHub({ type: 'answer', pid: process.pid, questions });
});
