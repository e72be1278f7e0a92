import { readFileSync } from 'node:fs';
import nodeModule from 'node:module';
import vm from 'node:vm';
import { messageOf } from '../../../core/text/errors.ts';

const opening = '(async () => {';

/**
 * Gives an error of syntax its place. V8 tells none for ES modules, so each file is parsed again as a script, with its import and export
 * declarations blanked; the first that gives the same message is the one. Other errors stay as they are.
 * @param files paths of the modules that may have raised it
 */
export function withSyntaxPlace(error: unknown, files: Iterable<string>): unknown {
  if (!(error instanceof SyntaxError) || /^(file:|\/|[A-Za-z]:\\)/.test(error.stack ?? '')) return error;
  for (const file of files) {
    const found = syntaxErrorOf(file);
    if (found?.message !== error.message) continue;
    error.stack = found.stack ?? '';
    return error;
  }
  return error;
}

/** The error of a file's syntax, whose stack begins with the place; null if it has none. */
function syntaxErrorOf(file: string): Error | null {
  const text = readFileSync(file, 'utf8');
  try {
    const code = /\.[cm]?ts$/.test(file) ? nodeModule.stripTypeScriptTypes(text) : text;
    // Compiling runs nothing.
    void new vm.Script(`${opening}${asScript(code)}\n})`, { filename: file, columnOffset: -opening.length });
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(messageOf(error));
  }
}

/** The code of a module without its declarations of imports and exports. Everything else keeps its line and column. */
export function asScript(code: string): string {
  return code
    .replaceAll(/^[ \t]*import\b(?!\s*[.(])[^;'"]*(?:'[^'\n]*'|"[^"\n]*")[^\n;]*;?/gm, blank)
    .replaceAll(/^[ \t]*export\s*(?:\*|\{[^}]*\})[^;\n]*;?/gm, blank)
    .replaceAll(/^([ \t]*)export\s+default\b/gm, (text: string) => `${' '.repeat(text.length - 2)}0,`)
    .replaceAll(/^([ \t]*)export\b/gm, blank)
    .replaceAll(/\bimport\.meta\b/g, (text: string) => 'this'.padEnd(text.length));
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ');
}
