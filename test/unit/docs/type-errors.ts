import { join } from 'node:path';
import ts from 'typescript';
import { root } from './code-blocks.ts';

/**
 * The errors of types in files that are not on the disk, with their lines from 0.
 * @param texts code by path below the repository: it imports the library as an example does
 */
export function typeErrors(texts: ReadonlyMap<string, string>): { file: string; line: number; message: string }[] {
  const program = compile(texts);
  return [...texts.keys()].flatMap((file) => {
    const source = program.getSourceFile(file);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
      ({ start = 0, messageText }) => ({
        file,
        line: source?.getLineAndCharacterOfPosition(start).line ?? 0,
        message: ts.flattenDiagnosticMessageText(messageText, '\n'),
      }),
    );
  });
}

function compile(texts: ReadonlyMap<string, string>): ts.Program {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), (file) => ts.sys.readFile(file)) as {
    config: { compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const browser = [join(root, 'workers/inference/browser.ts')];
  const own = { ...options, noUnusedLocals: false, types: ['node'], paths: { 'tutti-ensembles/browser': browser } };
  const host = ts.createCompilerHost(own);
  const [fileExists, readFile] = [host.fileExists.bind(host), host.readFile.bind(host)];
  const getSourceFile = host.getSourceFile.bind(host);
  host.fileExists = (file) => texts.has(file) || fileExists(file);
  host.readFile = (file) => texts.get(file) ?? readFile(file);
  host.getSourceFile = (file, target, ...others) => {
    const text = texts.get(file);
    return text === undefined ? getSourceFile(file, target, ...others) : ts.createSourceFile(file, text, target);
  };
  return ts.createProgram([...texts.keys()], own, host);
}
