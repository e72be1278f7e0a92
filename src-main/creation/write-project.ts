import { constants, existsSync, readdirSync, statSync } from 'node:fs';
import { cp, readFile, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { makeFolder } from '../../core/node/make-folder.ts';
import { dataFormatOf, isOfSystem } from '../../core/preprocessing/data-formats.ts';
import type { ImagePlan } from '../../core/preprocessing/plans/image-plan.ts';
import { imageCount } from '../../core/preprocessing/image-profile.ts';
import type { ProjectPlan } from '../../core/preprocessing/plans/project-plan.ts';
import { plannedSource, projectTitle } from '../../core/preprocessing/plans/project-source.ts';
import type { FileProfile } from '../../core/protocol/run/inspect-task.ts';
import { tutti } from '../../core/text/program.ts';
import { appFile } from '../processes/app-files.ts';

/** Files that every project gets. */
const shared = 'shared';
const library = 'tutti-ensembles';

/** The names of the templates. */
export function templates(): string[] {
  return readdirSync(appFile('templates')).filter((name) => name !== shared);
}

/** Why a folder can take no project, with the remedy; null if it can: it is new or empty. */
export function whyOccupied(folder: string): string | null {
  if (!existsSync(folder)) return null;
  if (!statSync(folder).isDirectory()) return `${folder} is a file. Choose the name of a new folder.`;
  const [first] = readdirSync(folder);
  if (first === undefined) return null;
  return `${folder} holds files, such as ${first}. Choose a new folder, or an empty one.`;
}

/** Writes the project of a template into a folder. */
export async function writeTemplate(folder: string, template: string): Promise<void> {
  await writeShared(folder);
  await cp(appFile(join('templates', template)), folder, { recursive: true });
  await nameProgram(join(folder, 'README.md'));
}

/**
 * Writes a project that learns from a table or from images, with a copy of the data and a README that says what was
 * found.
 * @param images the folder of the images that the table names; by default that of the table
 */
export async function writePlanned(
  folder: string,
  plan: ProjectPlan | ImagePlan,
  { path, images }: { path: string; images?: string | undefined },
): Promise<void> {
  const data = resolve(path);
  if (resolve(folder).startsWith(data + sep)) {
    throw new Error(`The project cannot be in the folder of its images, ${data}. Choose another folder.`);
  }
  await writeShared(folder);
  const title = projectTitle(basename(resolve(folder)));
  const name = basename(data);
  // File systems that can share the blocks of both copies do so.
  await cp(data, join(folder, name), { recursive: true, mode: constants.COPYFILE_FICLONE });
  if ('side' in plan && plan.profile.table !== null) {
    await copyImages(images ?? dirname(data), join(folder, plan.profile.folder), plan.profile.table.folders);
  }
  await writeFile(join(folder, 'project.ts'), plannedSource(plan, name, title));
  await writeFile(join(folder, 'README.md'), readmeOf(plan, name, title));
}

/** Copies the images of these folders below another one; `.`: those that lie in it directly. */
async function copyImages(from: string, to: string, folders: readonly string[]): Promise<void> {
  for (const own of folders) {
    const outer = join(from, own);
    const filter = async (source: string): Promise<boolean> => {
      if (source === outer) return true;
      if (isOfSystem(basename(source))) return false;
      if ((await stat(source)).isDirectory()) return own !== '.';
      return dataFormatOf(source)?.holds === 'image';
    };
    await cp(outer, join(to, own), { recursive: true, mode: constants.COPYFILE_FICLONE, filter });
  }
}

function sizeOf(profile: FileProfile): string {
  if (profile.kind === 'table') return `${profile.reading.rows} rows, ${profile.reading.columns.length} columns`;
  const classes = profile.classes.length === 0 ? '' : `, ${profile.classes.length} classes`;
  return `${imageCount(profile)} images${classes}`;
}

function readmeOf({ decisions, open, profile }: ProjectPlan | ImagePlan, file: string, title: string): string {
  const input = profile.kind === 'table' ? 'new.csv' : 'new-images';
  const findings = open.map(({ message }) => `- ${message}`);
  return `# ${title}

\`project.ts\` trains five networks on ${file} (${sizeOf(profile)}).

\`\`\`sh
${tutti} train .
${tutti} calibrate last
${tutti} dashboard
${tutti} predict last --input ${input} --output predictions.csv
\`\`\`

What was chosen, all of it in \`project.ts\`:

${decisions.map((decision) => `- ${decision}`).join('\n')}
${findings.length === 0 ? '' : `\nWorth a look:\n\n${findings.join('\n')}\n`}`;
}

async function writeShared(folder: string): Promise<void> {
  await makeFolder(folder);
  await cp(appFile(join('templates', shared)), folder, { recursive: true });
  const path = join(folder, 'package.json');
  const manifest = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  const made = { ...manifest, name: packageName(folder), ...dependenciesIn(folder) };
  await writeFile(path, `${JSON.stringify(made, null, 2)}\n`);
}

/** Its commands begin with `npx tutti`, which the desktop app's users do not have. */
async function nameProgram(readme: string): Promise<void> {
  await writeFile(readme, (await readFile(readme, 'utf8')).replaceAll('npx tutti ', `${tutti} `));
}

/** The folder's name in the letters that npm allows. */
function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|-+$/g, '');
  return name === '' ? 'my-ensemble' : name;
}

/** Types of the library: where the folder does not find it, a link to this installation. Training needs neither. */
function dependenciesIn(folder: string): { dependencies?: Record<string, string> } {
  try {
    createRequire(join(folder, 'package.json')).resolve(library);
    return {};
  } catch {
    return { dependencies: { [library]: `file:${resolve(appFile('.'))}` } };
  }
}
