import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** `names` of the values that it brings; `*` where they are not listed, none where only types come. */
export type Import = { specifier: string; line: number; names: readonly string[] };

/** A file of the product, by its path from the root, with all its imports. */
export type SourceFile = { file: string; imports: Import[] };

const sourceFile = /\.(?:[cm]?[jt]s|[jt]sx|vue)$/;

/** The source files in `folder` (relative to the root), sorted by path. Empty if the folder is missing. */
export function readSources(root: string, folder: string): SourceFile[] {
  const entries = readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && sourceFile.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort()
    .map((absolute) => {
      const file = path.relative(root, absolute).replaceAll(path.sep, '/');
      return { file, imports: listImports(file, readFileSync(absolute, 'utf8')) };
    });
}

/** The path from the root that a relative import of `file` resolves to, or null for packages and Node's modules. */
export function resolveImport(file: string, specifier: string): string | null {
  return specifier.startsWith('.') ? path.posix.join(path.posix.dirname(file), specifier) : null;
}

/** Static, dynamic, type and CommonJS imports, and re-exports, with their lines. */
function listImports(file: string, text: string): Import[] {
  const source = ts.createSourceFile(`${file}.ts`, scriptOf(file, text), ts.ScriptTarget.Latest, true);
  const imports: Import[] = [];
  const visit = (node: ts.Node): void => {
    const specifier = specifierOf(node);
    if (specifier !== undefined && ts.isStringLiteralLike(specifier)) {
      const { line } = source.getLineAndCharacterOfPosition(specifier.getStart());
      imports.push({ specifier: specifier.text, line: line + 1, names: namesOf(node) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return imports;
}

function specifierOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isExternalModuleReference(node)) return node.expression;
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal;
  const isCall = ts.isCallExpression(node) && /^(?:import|require)$/.test(node.expression.getText());
  return isCall ? node.arguments.at(0) : undefined;
}

function namesOf(node: ts.Node): string[] {
  if (ts.isImportTypeNode(node)) return [];
  if (ts.isImportDeclaration(node)) {
    const { importClause: clause } = node;
    if (clause === undefined || clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return [];
    return [...(clause.name === undefined ? [] : ['*']), ...listedNames(clause.namedBindings)];
  }
  if (!ts.isExportDeclaration(node)) return ['*'];
  if (node.isTypeOnly) return [];
  return node.exportClause === undefined ? ['*'] : listedNames(node.exportClause);
}

function listedNames(bindings: ts.NamedImportBindings | ts.NamedExportBindings | undefined): string[] {
  if (bindings === undefined) return [];
  if (!ts.isNamedImports(bindings) && !ts.isNamedExports(bindings)) return ['*'];
  const values: readonly (ts.ImportSpecifier | ts.ExportSpecifier)[] = bindings.elements;
  return values.filter(({ isTypeOnly }) => !isTypeOnly).map(({ name, propertyName }) => (propertyName ?? name).text);
}

/** The TypeScript of a file. For a Vue file, its scripts at their original lines. */
export function scriptOf(file: string, text: string): string {
  return file.endsWith('.vue') ? keepScripts(text) : text;
}

/** Blanks everything in a Vue file except its scripts, so that positions and lines stay the same. */
function keepScripts(text: string): string {
  const pieces = text.split(/(<script\b[^>]*>[\s\S]*?<\/script>)/);
  return pieces.map((piece, index) => (index % 2 === 0 ? blank(piece) : keepBody(piece))).join('');
}

function keepBody(element: string): string {
  const start = element.indexOf('>') + 1;
  const end = element.lastIndexOf('</script>');
  return blank(element.slice(0, start)) + element.slice(start, end) + blank(element.slice(end));
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ');
}
