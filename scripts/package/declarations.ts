import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

const relativeImport = /((?:from|import)\s*\(?\s*['"]\.[^'"]*)\.ts(['"])/g;

/**
 * Writes the declarations of the library and of all modules that they name, which editors and `tsc` read.
 * @throws Error with what the compiler says against them
 */
export function writeDeclarations(root: string, folder: string): void {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(root, 'tsconfig.node.json'),
    { noEmit: false, declaration: true, emitDeclarationOnly: true, noCheck: true, rootDir: root, outDir: folder },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail },
  );
  if (config === undefined) throw new Error('tsconfig.node.json could not be read.');
  const program = ts.createProgram(
    [join(root, 'workers', 'index.ts'), join(root, 'workers', 'inference', 'browser.ts')],
    config.options,
  );
  const { diagnostics } = program.emit(undefined, (path, text) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text.replaceAll(relativeImport, '$1.js$2'));
  });
  for (const diagnostic of diagnostics) fail(diagnostic);
}

function fail({ messageText }: ts.Diagnostic): never {
  throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
}
