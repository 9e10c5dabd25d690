import type { Comparison, SeenField } from './compare.ts';
import type { Finding } from './finding.ts';
import type { ProbeName } from './probe.ts';
import { isAbsent } from './remedies.ts';

const COSTS = {
  nothing: 'the service does without',
  value: 'it will be null',
  row: 'such an instrument is left out of the catalog',
  answer: 'the whole answer cannot be used (GATEWAY_CONTRACT)',
} as const;

/** The differences from the interface: a finding for each field, and one for all that are only missing. `allowed`: fields that may be absent, or another type. */
export function comparisonFindings(
  operation: ProbeName,
  comparison: Comparison,
  allowed: ReadonlySet<string>,
): Finding[] {
  const different = comparison.fields.filter(({ isWrong, loss }) => isWrong || loss !== 'nothing');
  const isAllowed = ({ path }: SeenField) =>
    allowed.has(path) || allowed.has(path.slice(path.lastIndexOf('.') + 1));
  const isMissing = ({ isWrong, loss }: SeenField) => !isWrong && loss === 'value';
  const missing = different.filter(isMissing);
  const absent = missing.filter((field) => isAbsent(field) && !isAllowed(field));
  return [
    ...different
      .filter((field) => !isMissing(field))
      .map((field) => ({
        level: isAllowed(field) ? ('note' as const) : levelOf(field),
        text: textOf(field),
        operation,
      })),
    ...absentFindings(operation, absent),
    ...missingFindings(
      operation,
      missing.filter((field) => !absent.includes(field)),
    ),
    ...emptyFindings(operation, comparison.fields),
    ...unknownFindings(operation, comparison.unknown),
  ];
}

function levelOf({ loss }: SeenField): Finding['level'] {
  return loss === 'nothing' ? 'note' : 'problem';
}

function absentFindings(operation: ProbeName, fields: readonly SeenField[]): Finding[] {
  if (fields.length === 0) return [];
  const names = fields.map(({ path }) => path).join(', ');
  const text = `Absent from every row: ${names}. They would be null; accept it by --allow-missing NAME.`;
  return [{ level: 'problem', text, operation }];
}

function emptyFindings(operation: ProbeName, fields: readonly SeenField[]): Finding[] {
  const isUnseen = ({ seen }: SeenField) => Object.keys(seen).length === 0;
  const lists = fields.filter(
    (field, at) =>
      field.expected === 'object' && isUnseen(field) && !isUnseen(fields[at - 1] ?? field),
  );
  if (lists.length === 0) return [];
  const names = lists.map(({ path }) => path.replace(/\[\]$/, '') || 'the list').join(', ');
  const text = `Empty: ${names}. Of their rows nothing is known: check with an account that has some.`;
  return [{ level: 'note', text, operation }];
}

/** The interface does not say that these have to be there. */
function missingFindings(operation: ProbeName, fields: readonly SeenField[]): Finding[] {
  if (fields.length === 0) return [];
  const names = fields.map(({ path, expected, seen }) =>
    Object.hasOwn(seen, expected) ? `${path} (sometimes)` : path,
  );
  return [{ level: 'note', text: `Missing, or null: ${names.join(', ')}.`, operation }];
}

function textOf({ path, expected, seen, loss }: SeenField): string {
  const total = Object.values(seen).reduce((sum, times) => sum + times, 0);
  const others = Object.entries(seen).filter(([type]) => type !== expected);
  const found = others.map(([type, times]) =>
    total === 1 ? type : `${type} ${times} of ${total} times`,
  );
  const name = path === '' ? 'the answer itself' : path;
  return `${name}: ${expected} expected, ${found.join(', ')} found; ${COSTS[loss]}.`;
}

const MAX_NAMES = 10;

function unknownFindings(operation: ProbeName, unknown: Comparison['unknown']): Finding[] {
  if (unknown.length === 0) return [];
  const names = unknown.slice(0, MAX_NAMES).map(({ path, type }) => `${path} (${type})`);
  const others = unknown.length - names.length;
  if (others > 0) names.push(`${others} more`);
  const text = `Not in the interface, and not read: ${names.join(', ')}.`;
  return [{ level: 'note', text, operation }];
}
