import { withRunLock } from '../../../../src-main/store/runs/hub-lock.ts';

/** Takes the lock of a run folder, prints a message, and holds the lock until it is killed. */
await withRunLock(process.argv[2], async () => {
  console.log('held');
  await new Promise((resolve) => setTimeout(resolve, 60_000));
});
