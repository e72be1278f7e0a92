/** `node test/fuzz/replay.ts <target> <file>...`: runs inputs through a target, and prints what is wrong with each. */
import { readFile } from 'node:fs/promises';
import { examine } from './engine/judge.ts';
import { allTargets } from './targets/index.ts';

const [name, ...files] = process.argv.slice(2);
const found = (await allTargets()).find(({ target }) => target.name === name);
if (found === undefined) throw new Error(`There is no target ${name}.`);
for (const file of files) {
  const finding = await examine(found.target, await readFile(file));
  console.log(`${file}: ${finding === null ? 'fine' : `${finding.kind}: ${finding.message}`}`);
}
await found.target.close?.();
