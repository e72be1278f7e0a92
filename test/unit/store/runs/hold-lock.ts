import { withRunLock } from '../../../../src-main/store/runs/run-lock.ts';

/** Takes the lock of a run folder, says so, and keeps it until it is killed. */
await withRunLock(process.argv[2], async () => {
  console.log('held');
  await new Promise((resolve) => setTimeout(resolve, 60_000));
});
