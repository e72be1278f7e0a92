import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/**
 * `sbatch` keeps the script, `scontrol` notes its arguments, and `srun` starts a task for each node with SLURM's
 * variables and passes USR1 on.
 */
const programs = (folder: string, nodes: number) => ({
  sbatch: `#!/bin/bash
cat > ${folder}/script.sh
echo "4711;cluster"
`,
  scontrol: `#!/bin/bash
echo "$@" >> ${folder}/scontrol.txt
`,
  srun: `#!/bin/bash
while [[ $1 == --* ]]; do shift; done
export SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=${nodes} SLURM_STEP_TASKS_PER_NODE="1(x${nodes})" SLURM_STEP_NODELIST="n[0-${nodes - 1}]"
pids=()
for rank in $(seq 0 ${nodes - 1}); do
  SLURM_PROCID=$rank SLURM_NODEID=$rank SLURM_LOCALID=0 SLURMD_NODENAME=n$rank "$@" &
  pids+=($!)
done
trap 'kill -USR1 "\${pids[@]}"' USR1
for pid in "\${pids[@]}"; do
  wait $pid; code=$?
  while kill -0 $pid 2> /dev/null; do wait $pid; code=$?; done
done
exit $code
`,
});

/** A stand-in for SLURM's commands in a folder. @returns variables with which they are found */
export async function standInForSlurm(folder: string, nodes: number): Promise<Record<string, string>> {
  await mkdir(folder, { recursive: true });
  for (const [name, script] of Object.entries(programs(folder, nodes))) {
    await writeFile(join(folder, name), script);
    await chmod(join(folder, name), 0o755);
  }
  return { PATH: `${folder}${delimiter}${process.env.PATH}` };
}
