import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { type Check, runChecks } from './checks.ts';
import { exitCodes } from '../exit-codes.ts';
import { renderTable } from '../table.ts';

/** `tutti doctor`: whether this machine has what Tutti needs. @returns the exit code, `failed` where something is missing */
export async function doctor(options: { json?: boolean }): Promise<number> {
  const checks = await runChecks();
  const isWell = checks.every(({ status }) => status !== 'fail');
  const lines = options.json ? [toJson({ ok: isWell, checks })] : describeChecks(checks);
  process.stdout.write(`${lines.join('\n')}\n`);
  return isWell ? exitCodes.finished : exitCodes.failed;
}

/** One line a check, remedies below. */
export function describeChecks(checks: readonly Check[]): string[] {
  const columns = [{ title: '' }, { title: 'check' }, { title: 'found' }];
  const table = renderTable(
    columns,
    checks.map(({ status, name, detail }) => [status, name, detail]),
  );
  const remedies = checks.flatMap(({ name, remedy }) => (remedy === undefined ? [] : [`${name}: ${remedy}`]));
  return remedies.length === 0 ? table : [...table, '', ...remedies];
}
