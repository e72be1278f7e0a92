/** For `standing-process.test.ts`: answers each question with its process and how many there were, and ends itself when told to. */
let questions = 0;
process.on('message', (message: { end?: boolean }) => {
  if (message.end === true) {
    console.log('told to end');
    process.exit(3);
  }
  questions += 1;
  process.send?.({ type: 'progress', questions });
  process.send?.({ type: 'answer', pid: process.pid, questions });
});
