import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/**
 * The layers: `src-main`, `src-renderer` and `workers` import `core` and never each other. `core` imports only zod.
 * `core/node` also imports Node's modules, so neither the rest of core nor the page may import it. Type imports count.
 */
const layers = ['core', 'src-main', 'src-renderer', 'workers'];

/** The package imports itself by name: `tutti` is the public library. */
const ownPackage = { name: 'tutti', layer: 'workers' };

const sourceFile = /\.(?:[cm]?[jt]s|[jt]sx|vue)$/;

export type Violation = { file: string; line: number; message: string };
type Import = { specifier: string; line: number };

/** Every import under `root` that crosses the layers the wrong way, in the order of files and lines. */
export function findLayerViolations(root: string): Violation[] {
  return layers.flatMap((layer) =>
    listSources(path.join(root, layer)).flatMap((absolute) => {
      const file = path.relative(root, absolute).replaceAll(path.sep, '/');
      return listImports(file, readFileSync(absolute, 'utf8')).flatMap(({ specifier, line }) => {
        const message = explainViolation(file, specifier);
        return message === null ? [] : [{ file, line, message }];
      });
    }),
  );
}

function listSources(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && sourceFile.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

/** The rule and the remedy where `file` (relative to the root) may not import `specifier`; null where it may. */
function explainViolation(file: string, specifier: string): string | null {
  const layer = file.split('/')[0];
  const target = targetOf(file, specifier);
  const isNodeFile = file.startsWith('core/node/');
  if (!isNodeFile && (layer === 'core' || layer === 'src-renderer') && reachesCoreNode(file, specifier)) {
    return `core/node imports Node's modules: ${layer} may not import "${specifier}". Only src-main and workers may.`;
  }
  if (target === layer) return null;
  if (layer === 'core') {
    if (target === null && (/^zod(?:\/|$)/.test(specifier) || (isNodeFile && specifier.startsWith('node:'))))
      return null;
    return `core imports only zod, not "${specifier}". Move what needs it to the layer that uses it.`;
  }
  if (target === null || target === 'core' || target === 'package.json') return null;
  return `${layer} imports core and no other folder, not "${specifier}". Move what both need to core.`;
}

/** The top folder (or file) of the repository that an import reaches; null for packages and Node's own modules. */
function targetOf(file: string, specifier: string): string | null {
  if (specifier === ownPackage.name || specifier.startsWith(`${ownPackage.name}/`)) return ownPackage.layer;
  if (!specifier.startsWith('.')) return null;
  return path.posix.join(path.posix.dirname(file), specifier).split('/')[0];
}

function reachesCoreNode(file: string, specifier: string): boolean {
  return specifier.startsWith('.') && path.posix.join(path.posix.dirname(file), specifier).startsWith('core/node/');
}

/** Static, dynamic, type and CommonJS imports, and re-exports, with the lines they stand on. */
function listImports(file: string, text: string): Import[] {
  const isVue = file.endsWith('.vue');
  const script = isVue ? keepScripts(text) : text;
  const source = ts.createSourceFile(isVue ? `${file}.ts` : file, script, ts.ScriptTarget.Latest, true);
  const imports: Import[] = [];
  const visit = (node: ts.Node): void => {
    const specifier = specifierOf(node);
    if (specifier !== undefined && ts.isStringLiteralLike(specifier)) {
      const { line } = source.getLineAndCharacterOfPosition(specifier.getStart());
      imports.push({ specifier: specifier.text, line: line + 1 });
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

/** Blanks all of a Vue file but its scripts, so that positions and lines stay what they were. */
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
