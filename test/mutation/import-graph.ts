import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** The runtime imports of each file. Type imports are erased. */
export class ImportGraph {
  readonly #root: string;
  readonly #files: ReadonlySet<string>;
  readonly #imports = new Map<string, string[]>();
  readonly #distances = new Map<string, ReadonlyMap<string, number>>();

  /** @param files all importable files, relative to `root`, with slashes */
  constructor(root: string, files: readonly string[]) {
    this.#root = root;
    this.#files = new Set(files);
  }

  /** The number of imports from `file` to each file that it reaches, 0 to itself. */
  distancesFrom(file: string): ReadonlyMap<string, number> {
    const known = this.#distances.get(file);
    if (known !== undefined) return known;
    const distances = new Map([[file, 0]]);
    for (const [reached, distance] of distances) {
      for (const next of this.#importsOf(reached)) {
        if (!distances.has(next)) distances.set(next, distance + 1);
      }
    }
    this.#distances.set(file, distances);
    return distances;
  }

  #importsOf(file: string): string[] {
    const known = this.#imports.get(file);
    if (known !== undefined) return known;
    const text = readFileSync(path.join(this.#root, file), 'utf8');
    const imports = listSpecifiers(file, text)
      .map((specifier) => resolve(file, specifier))
      .filter((imported) => this.#files.has(imported));
    this.#imports.set(file, imports);
    return imports;
  }
}

function resolve(file: string, specifier: string): string {
  if (specifier === 'tutti-ensembles') return 'workers/index.ts';
  return specifier.startsWith('.') ? path.posix.join(path.posix.dirname(file), specifier) : specifier;
}

function listSpecifiers(file: string, text: string): string[] {
  if (!file.endsWith('.ts')) return [];
  const specifiers: string[] = [];
  const visit = (node: ts.Node): void => {
    const specifier = specifierOf(node);
    if (specifier !== undefined && ts.isStringLiteralLike(specifier)) specifiers.push(specifier.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return specifiers;
}

function specifierOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node)) return node.importClause?.isTypeOnly === true ? undefined : node.moduleSpecifier;
  if (ts.isExportDeclaration(node)) return node.isTypeOnly ? undefined : node.moduleSpecifier;
  const isDynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
  return isDynamic ? node.arguments.at(0) : undefined;
}
