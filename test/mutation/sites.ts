import ts from 'typescript';

/** A place in a file, with its possible replacements. */
export interface Site {
  file: string;
  /** Starts at 1. */
  line: number;
  /** The unchanged line, without indentation. */
  lineText: string;
  /** Position in the text, in UTF-16 units. */
  start: number;
  end: number;
  operator: string;
  original: string;
  replacements: string[];
}

type Change = Pick<Site, 'start' | 'end' | 'operator' | 'replacements'>;

const operatorFlips: Partial<Record<ts.SyntaxKind, string[]>> = {
  [ts.SyntaxKind.PlusToken]: ['-'],
  [ts.SyntaxKind.MinusToken]: ['+'],
  [ts.SyntaxKind.AsteriskToken]: ['/'],
  [ts.SyntaxKind.SlashToken]: ['*'],
  [ts.SyntaxKind.PercentToken]: ['*'],
  [ts.SyntaxKind.LessThanToken]: ['<=', '>='],
  [ts.SyntaxKind.LessThanEqualsToken]: ['<', '>'],
  [ts.SyntaxKind.GreaterThanToken]: ['>=', '<='],
  [ts.SyntaxKind.GreaterThanEqualsToken]: ['>', '<'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken]: ['!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken]: ['==='],
  [ts.SyntaxKind.EqualsEqualsToken]: ['!='],
  [ts.SyntaxKind.ExclamationEqualsToken]: ['=='],
  [ts.SyntaxKind.AmpersandAmpersandToken]: ['||'],
  [ts.SyntaxKind.BarBarToken]: ['&&'],
  [ts.SyntaxKind.PlusEqualsToken]: ['-='],
  [ts.SyntaxKind.MinusEqualsToken]: ['+='],
  [ts.SyntaxKind.AsteriskEqualsToken]: ['/='],
  [ts.SyntaxKind.SlashEqualsToken]: ['*='],
  [ts.SyntaxKind.LessThanLessThanToken]: ['>>'],
  [ts.SyntaxKind.GreaterThanGreaterThanToken]: ['<<'],
  [ts.SyntaxKind.GreaterThanGreaterThanGreaterThanToken]: ['<<'],
  [ts.SyntaxKind.AmpersandToken]: ['|'],
  [ts.SyntaxKind.BarToken]: ['&'],
};

const functionFlips = new Map([
  ['Math.min', 'Math.max'],
  ['Math.max', 'Math.min'],
  ['Math.floor', 'Math.ceil'],
  ['Math.ceil', 'Math.floor'],
]);

/**
 * Arguments of these functions are never changed. Otherwise a mutant could remove a foreign folder or end a foreign
 * process.
 */
const dangerousCall = /(?:^|\.)(?:kill|rm|rmSync|rmdir|rmdirSync|unlink|unlinkSync)$/;

/**
 * Every place of a TypeScript file, except in types, where an operator, a number 0 or 1, an index or an early exit can
 * be changed, by position.
 */
export function findSites(file: string, text: string): Site[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const sites: Site[] = [];
  const visit = (node: ts.Node): void => {
    if (isLeftOut(node)) return;
    for (const change of changesOf(node)) {
      const line = source.getLineAndCharacterOfPosition(change.start).line + 1;
      sites.push({
        file,
        line,
        lineText: lineAt(text, change.start),
        original: text.slice(change.start, change.end),
        ...change,
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return sites.toSorted((a, b) => a.start - b.start);
}

export function mutate(text: string, site: Pick<Site, 'start' | 'end'>, replacement: string): string {
  return text.slice(0, site.start) + replacement + text.slice(site.end);
}

/** Whether a text can be parsed. `a ?? b || c` cannot. */
export function isValid(text: string): boolean {
  const { diagnostics = [] } = ts.transpileModule(text, {
    reportDiagnostics: true,
    compilerOptions: { experimentalDecorators: true },
  });
  return diagnostics.length === 0;
}

/** The line that holds a position, without indentation. */
export function lineAt(text: string, position: number): string {
  const start = text.lastIndexOf('\n', position - 1) + 1;
  const end = text.indexOf('\n', position);
  return text.slice(start, end === -1 ? undefined : end).trim();
}

function isLeftOut(node: ts.Node): boolean {
  if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return true;
  if (ts.isTypeAliasDeclaration(node) || ts.isDecorator(node)) return true;
  return ts.isCallExpression(node) && dangerousCall.test(node.expression.getText());
}

function changesOf(node: ts.Node): Change[] {
  if (ts.isBinaryExpression(node)) return ofBinary(node);
  if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) return ofUnary(node);
  if (ts.isNumericLiteral(node)) return ofNumber(node);
  if (ts.isConditionalExpression(node)) return [change(node.condition, 'choice', [`!(${node.condition.getText()})`])];
  if (ts.isIfStatement(node)) return ofIf(node);
  if (ts.isElementAccessExpression(node)) return ofIndex(node);
  if (ts.isCallExpression(node)) return ofCall(node);
  return [];
}

function ofBinary({ left, operatorToken, right }: ts.BinaryExpression): Change[] {
  const replacements = operatorFlips[operatorToken.kind];
  if (replacements === undefined) return [];
  const joinsText = operatorToken.kind === ts.SyntaxKind.PlusToken && [left, right].some(endsInText);
  return joinsText ? [] : [change(operatorToken, 'operator', replacements)];
}

function endsInText(node: ts.Node): boolean {
  if (ts.isBinaryExpression(node)) return endsInText(node.left) || endsInText(node.right);
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

function ofUnary(node: ts.PrefixUnaryExpression | ts.PostfixUnaryExpression): Change[] {
  const operand = node.operand.getText();
  const { operator } = node;
  if (operator === ts.SyntaxKind.ExclamationToken) return [change(node, 'negation', [operand])];
  if (operator === ts.SyntaxKind.MinusToken && !ts.isNumericLiteral(node.operand)) {
    return [change(node, 'sign', [operand])];
  }
  const isIncrement = operator === ts.SyntaxKind.PlusPlusToken;
  if (!isIncrement && operator !== ts.SyntaxKind.MinusMinusToken) return [];
  const flipped = isIncrement ? '--' : '++';
  return [change(node, 'count', [ts.isPrefixUnaryExpression(node) ? `${flipped}${operand}` : `${operand}${flipped}`])];
}

function ofNumber(node: ts.NumericLiteral): Change[] {
  const isKey = ts.isPropertyAssignment(node.parent) && node.parent.name === node;
  if (isKey) return [];
  if (node.text === '0') return [change(node, 'number', ['1'])];
  return node.text === '1' ? [change(node, 'number', ['0', '2'])] : [];
}

/** An early exit that is never taken. */
function ofIf({ expression, thenStatement, elseStatement }: ts.IfStatement): Change[] {
  const last = ts.isBlock(thenStatement) ? thenStatement.statements.at(-1) : thenStatement;
  if (last === undefined || elseStatement !== undefined) return [];
  const exits = ts.isReturnStatement(last) || ts.isThrowStatement(last) || ts.isBreakOrContinueStatement(last);
  return exits ? [change(expression, 'exit', ['false'])] : [];
}

function ofIndex({ argumentExpression }: ts.ElementAccessExpression): Change[] {
  if (ts.isStringLiteralLike(argumentExpression) || ts.isTemplateExpression(argumentExpression)) return [];
  if (ts.isNumericLiteral(argumentExpression)) return [];
  return [change(argumentExpression, 'index', [`(${argumentExpression.getText()}) + 1`])];
}

function ofCall({ expression }: ts.CallExpression): Change[] {
  const flipped = functionFlips.get(expression.getText());
  return flipped === undefined ? [] : [change(expression, 'function', [flipped])];
}

function change(node: ts.Node, operator: string, replacements: string[]): Change {
  return { start: node.getStart(), end: node.getEnd(), operator, replacements };
}
