declare global {
  /** Also where neither Node's nor the browser's types are known. */
  interface ImportMeta {
    url: string;
  }
}

/** How a process was started, as far as Node knows; nothing in a browser. */
interface Started {
  argv?: readonly string[];
  env?: Readonly<Record<string, string | undefined>>;
}

/**
 * How a user calls the command line of the Tutti that a module belongs to: as this process was called, else
 * `npx tutti`, which works in a clone and where the package is installed.
 * @param moduleAddress its `import.meta.url`
 */
export function programOf(moduleAddress: string, { argv = [], env = {} }: Started = {}): string {
  // The desktop app's archive, or the folder of what lies beside it. Its users have no npm.
  if (/\/app\.asar(\.unpacked)?\//.test(moduleAddress)) return 'tutti';
  // What npm sets for `npm run tutti`, whose script of package.json has this name.
  if (env.npm_lifecycle_event === 'tutti') return 'npm run tutti --';
  // `tutti.mjs` passes on how it was called. A command of PATH that npm has not put there: an installation for all
  // folders.
  const called = (env.TUTTI_CALLED ?? argv[1] ?? '').replaceAll('\\', '/');
  return called.endsWith('/tutti') && !called.includes('/node_modules/.bin/') ? 'tutti' : 'npx tutti';
}

/**
 * The command line of this Tutti, for messages. Pages, which come from elsewhere, learn it from the hub
 * (`PageSession`).
 */
export const tutti = programOf(import.meta.url, (globalThis as { process?: Started }).process);

/** The commands; those of `createProgram`. */
export const commandNames = [
  'archive',
  'attach',
  'calibrate',
  'checkpoint',
  'compare',
  'completion',
  'continue',
  'create',
  'dashboard',
  'delete',
  'devices',
  'discover',
  'doctor',
  'ensemble',
  'export',
  'fork',
  'import',
  'inspect',
  'pause',
  'predict',
  'queue',
  'report',
  'resume',
  'runs',
  'search',
  'serve',
  'set',
  'setup',
  'show',
  'stop',
  'studies',
  'tag',
  'train',
  'trust',
];

const namedCommand = new RegExp(String.raw`(?<![\w/.-]|npx |-- )tutti(?= (?:${commandNames.join('|')})\b)`, 'g');

/**
 * A text for people in whose messages `tutti <command>` stands, with the commands as this user calls them. Messages,
 * which runs keep and other machines show, have the short form; what prints them calls this.
 */
export function spellCommands(text: string, program = tutti): string {
  return text.replaceAll(namedCommand, program);
}
