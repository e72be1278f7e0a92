import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { completeBlocks, root } from './code-blocks.ts';

const blocks = completeBlocks().map((block) => ({ ...block, file: join(root, `${block.page}-${block.line}.ts`) }));
const texts = new Map(blocks.map(({ file, code }) => [file, code]));

/** The blocks as files beside their pages, which are not on the disk: they import the library as an example does. */
function compile(): ts.Program {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), (file) => ts.sys.readFile(file)) as {
    config: { compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const browser = [join(root, 'workers/inference/browser.ts')];
  const own = { ...options, noUnusedLocals: false, types: ['node'], paths: { 'tutti-ensembles/browser': browser } };
  const host = ts.createCompilerHost(own);
  const { fileExists, readFile } = host;
  host.fileExists = (file) => texts.has(file) || fileExists.call(host, file);
  host.readFile = (file) => texts.get(file) ?? readFile.call(host, file);
  const getSourceFile = host.getSourceFile.bind(host);
  host.getSourceFile = (file, target, ...others) => {
    const text = texts.get(file);
    return text === undefined ? getSourceFile(file, target, ...others) : ts.createSourceFile(file, text, target);
  };
  return ts.createProgram([...texts.keys()], own, host);
}

it('code of the pages that is a whole file has the right types', { timeout: 300_000 }, () => {
  expect(blocks.length).toBeGreaterThan(10);
  const program = compile();
  const errors = blocks.flatMap(({ file, page, line }) => {
    const source = program.getSourceFile(file);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
      ({ start = 0, messageText }) => {
        const place = source?.getLineAndCharacterOfPosition(start).line ?? 0;
        return `${page}:${line + place}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
      },
    );
  });
  expect(errors).toEqual([]);
});
