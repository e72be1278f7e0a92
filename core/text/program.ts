declare global {
  /** Also where neither Node's nor the browser's types are known. */
  interface ImportMeta {
    url: string;
  }
}

/** How a user calls the command line of the Tutti that a module belongs to. @param moduleAddress its `import.meta.url` */
export function programOf(moduleAddress: string): 'tutti' | 'npx tutti' {
  // The desktop app's archive, or the folder of what lies beside it. Its users have no npm.
  return /\/app\.asar(\.unpacked)?\//.test(moduleAddress) ? 'tutti' : 'npx tutti';
}

/** The command line of this Tutti, for messages. Pages, which come from elsewhere, learn it from the hub (`PageSession`). */
export const tutti = programOf(import.meta.url);
