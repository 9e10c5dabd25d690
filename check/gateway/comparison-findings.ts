import type { Comparison, SeenField } from '../../src/gateway/interface/compare.ts';
import type { Finding } from './finding.ts';
import type { ProbeName } from './probe.ts';

const COSTS = {
  nothing: 'the service does without',
  value: 'it will be null',
  row: 'such an instrument is left out of the catalog',
  answer: 'the whole answer cannot be used (GATEWAY_CONTRACT)',
} as const;

/** The differences from the interface: a finding for each field, and one for all that are only missing. */
export function comparisonFindings(operation: ProbeName, comparison: Comparison): Finding[] {
  const different = comparison.fields.filter(({ isWrong, loss }) => isWrong || loss !== 'nothing');
  const isMissing = ({ isWrong, loss }: SeenField) => !isWrong && loss === 'value';
  return [
    ...different
      .filter((field) => !isMissing(field))
      .map((field) => ({ level: levelOf(field), text: textOf(field), operation })),
    ...missingFindings(operation, different.filter(isMissing)),
    ...unknownFindings(operation, comparison.unknown),
  ];
}

function levelOf({ loss }: SeenField): Finding['level'] {
  return loss === 'nothing' ? 'note' : 'problem';
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
