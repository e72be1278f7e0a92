import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export type Broken = { file: string; line: number; message: string };

/** Packages, and folders that commands of this repository create. Pages may name these. */
const leftOut = new Set([
  'node_modules',
  '.git',
  'out',
  'dist',
  'runs',
  'docs/api',
  'docs/.vitepress',
  'bench/results',
]);
const flagName = /(?<=^|[\s`('])--[a-z][\w.-]*[\w]/g;
/** The dashboard's flags, and short and long aliases of options. */
const flagSources = ['src-main/start/options.ts', 'src-main/runs/configuration/run-flags.ts'];
/** Flags of scripts of this repository and of Node, which pages name alone. */
const otherFlags = new Set(
  (
    '--targets --design --create --desktop --per-area --areas --again --mode --max-semi-space-size ' +
    '--heap-growing-percent --initial-old-space-size --disable-gpu'
  ).split(' '),
);
const sourceFile = /\.(?:ts|mjs|vue)$/;
const sourcePath = /^[\w.-]+(?:\/[\w.-]+)*\.(?:ts|mjs|vue)$/;
const folderPath = /^[\w.-]+\/[\w./-]*\/$/;

/**
 * Finds broken references of the Markdown files under `root`: source files and folders in backticks, relative links,
 * headings in links, `npm run` scripts, and flags of `tutti`. In sources, it checks names of pages of `docs/`.
 */
export function findBrokenReferences(root: string): Broken[] {
  const files = listFiles(root);
  const headings = new Map<string, Set<string>>();
  for (const file of files.filter((name) => name.endsWith('.md'))) headings.set(file, headingsOf(read(root, file)));
  const scripts = scriptsOf(root);
  const flags = flagsOf(root, files);
  return files.flatMap((file) => {
    if (file.endsWith('.md'))
      return [
        ...checkPage(root, file, new Set(files), headings),
        ...checkScripts(root, file, scripts),
        ...checkFlags(root, file, flags),
      ];
    return sourceFile.test(file) && !file.startsWith('test/') ? checkSource(root, file, headings) : [];
  });
}

/** Files under `root` with `/` between folders, without packages and build output. */
function listFiles(root: string, folder = ''): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) return leftOut.has(name) ? [] : listFiles(root, name);
    return [name];
  });
}

function checkPage(root: string, file: string, files: Set<string>, headings: Map<string, Set<string>>): Broken[] {
  return proseLines(read(root, file)).flatMap(({ text, line }) => [
    ...[...text.matchAll(/`([^`]+)`/g)]
      .filter(([, name]) => isMissing(name, files))
      .map(([, name]) => ({ file, line, message: `\`${name}\` is not in the repository. Name its present path.` })),
    ...[...text.matchAll(/\]\((?!\w+:)([^)\s]+)\)/g)].flatMap(([, link]) => {
      const message = explainLink(file, link, files, headings);
      return message === null ? [] : [{ file, line, message }];
    }),
  ]);
}

/** Commands stand in fenced code too, so every line counts. */
function checkScripts(root: string, file: string, scripts: ReadonlySet<string>): Broken[] {
  return read(root, file)
    .split('\n')
    .flatMap((text, index) =>
      [...text.matchAll(/\bnpm run ([\w:-]+)/g)]
        .filter(([, name]) => !scripts.has(name))
        .map(([, name]) => ({ file, line: index + 1, message: `package.json has no script "${name}".` })),
    );
}

function scriptsOf(root: string): Set<string> {
  const manifest = JSON.parse(read(root, 'package.json')) as { scripts?: Record<string, string> };
  return new Set(Object.keys(manifest.scripts ?? {}));
}

/**
 * The flags of commands and options, which the generated pages and the dashboard's help list, and those of the
 * hyperparameters of all projects; empty where there are no such pages.
 */
function flagsOf(root: string, files: readonly string[]): Set<string> {
  const pages = ['docs/commands.md', 'docs/options.md', ...flagSources];
  const listed = pages.filter((page) => files.includes(page)).flatMap((page) => read(root, page).match(flagName) ?? []);
  if (listed.length === 0) return new Set();
  const projects = files.filter((file) => file.endsWith('/project.ts') || file.endsWith('.md'));
  const own = projects.flatMap((file) => [...read(root, file).matchAll(/\b(\w+): z\b/g)].map(([, name]) => name));
  return new Set([
    ...listed,
    ...own.map((name) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`),
  ]);
}

/** Checks the flags of commands that begin with `tutti`, and of code in the text that begins with a flag. */
function checkFlags(root: string, file: string, known: ReadonlySet<string>): Broken[] {
  if (known.size === 0) return [];
  let isCommand = false;
  let isContinued = false;
  return read(root, file)
    .split('\n')
    .flatMap((text, index) => {
      isCommand = /^(?:\w+=\S+ )*(?:npx )?tutti /.test(text) || (isCommand && isContinued);
      isContinued = text.endsWith('\\');
      const own = isCommand
        ? [text.split(' # ')[0]]
        : [...text.matchAll(/`((?:(?:npx )?tutti |--)[^`]+)`/g)].map(([, code]) => code);
      return own
        .flatMap((code) => withoutQuoted(code).match(flagName) ?? [])
        .filter((flag) => !known.has(flag) && !otherFlags.has(flag))
        .map((flag) => ({ file, line: index + 1, message: `No command and no option has the flag ${flag}.` }));
    });
}

/** What a flag is given in quotes belongs to another program, such as `--sbatch "--gpus=1"`. */
const withoutQuoted = (code: string): string => code.replaceAll(/"[^"]*"|'[^']*'/g, '');

/** Sources name pages in comments and messages, by their path from the root. */
function checkSource(root: string, file: string, headings: Map<string, Set<string>>): Broken[] {
  return read(root, file)
    .split('\n')
    .flatMap((text, index) =>
      [...text.matchAll(/\bdocs\/[\w/-]+\.md\b/g)]
        .filter(([page]) => !headings.has(page))
        .map(([page]) => ({ file, line: index + 1, message: `There is no page ${page}. Name its present path.` })),
    );
}

/** A page may name a path by its suffix (`strategies/hdet/`). Words that are no source path are never missing. */
function isMissing(name: string, files: Set<string>): boolean {
  if (sourcePath.test(name)) return !files.has(name) && ![...files].some((file) => file.endsWith(`/${name}`));
  if (!folderPath.test(name) || leftOut.has(name.slice(0, -1))) return false;
  return ![...files].some((file) => `/${file}`.includes(`/${name}`));
}

/** A link that begins with a slash starts at the repository's root, as on the site and on GitHub. */
function pageOf(file: string, target: string): string {
  return target.startsWith('/') ? target.slice(1) : path.posix.join(path.posix.dirname(file), target);
}

function explainLink(
  file: string,
  link: string,
  files: Set<string>,
  headings: Map<string, Set<string>>,
): string | null {
  const [target, heading] = link.split('#');
  const page = target === '' ? file : pageOf(file, target);
  // Pages of the site's library reference are generated.
  if (page.startsWith('docs/api/')) return `${link} leads to a page that only the site has. Name it in the text.`;
  if (!files.has(page)) return `The link ${link} leads to no file. Links to folders need the file, such as README.md.`;
  if (heading === undefined || headings.get(page)?.has(heading) === true) return null;
  return `${page} has no heading #${heading}. It has: ${[...(headings.get(page) ?? [])].join(', ')}.`;
}

/** Lines outside of fenced code. */
function proseLines(text: string): { text: string; line: number }[] {
  let isCode = false;
  return text.split('\n').flatMap((content, index) => {
    const isFence = content.trimStart().startsWith('```');
    if (isFence) isCode = !isCode;
    return isCode || isFence ? [] : [{ text: content, line: index + 1 }];
  });
}

function headingsOf(text: string): Set<string> {
  const lines = proseLines(text).filter(({ text: content }) => /^#{1,6} /.test(content));
  return new Set(lines.map(({ text: content }) => anchorOf(content.replace(/^#+ /, ''))));
}

/** The anchor of a heading, by the rule of repository hosts. The site's generator also uses this function. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}

function read(root: string, file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}
