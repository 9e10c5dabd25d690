import type { Loss } from '../gateway/shape.ts';
import { type Comparison, isAbsence, MISSING, type SeenField } from './comparison.ts';
import type { Finding } from './report.ts';

/** A finding of some operation. */
type Difference = Pick<Finding, 'level' | 'text' | 'setting'>;

const COSTS: Readonly<Record<Loss, string>> = {
  nothing: 'the service does without',
  value: 'it will be null',
  row: 'such an instrument is left out of the catalog',
  answer: 'the whole answer cannot be used (GATEWAY_CONTRACT)',
};

/** The differences from the gateway's interface. Fields that every row of a list lacks are one finding. */
export function comparisonFindings({ fields, unknown }: Comparison): Difference[] {
  const absent = fields.filter((field) => isAbsent(field) && field.missing !== 'nothing');
  const wrong = fields.filter((field) => !isAbsent(field) && misfitsIn(field).length > 0);
  return [...absentFindings(absent), ...wrong.map(wrongFinding), ...unknownFindings(unknown)];
}

/** Whether the field is missing in every row, and null in none. */
function isAbsent({ seen }: SeenField): boolean {
  return [...seen.keys()].join() === MISSING;
}

/** The seen types other than the expected one. Missing and null count only if they cost a row or the whole answer. */
function misfitsIn({ expected, seen, missing }: SeenField): string[] {
  const isCostly = missing === 'row' || missing === 'answer';
  return [...seen.keys()].filter((type) => type !== expected && (isCostly || !isAbsence(type)));
}

/** One finding for the fields of each list or object. */
function absentFindings(fields: readonly SeenField[]): Difference[] {
  const byParent = Map.groupBy(fields, ({ path }) => path.slice(0, path.lastIndexOf('.') + 1));
  return [...byParent].map(([parent, lacking]) => {
    const names = lacking.map(({ path }) => path.slice(parent.length)).join(', ');
    const place = parent === '' ? 'The answer' : `Each of ${parent.slice(0, -1)}`;
    const losses = lacking.map(({ missing }) => missing);
    const worst = (['answer', 'row'] as const).find((loss) => losses.includes(loss));
    const cost = worst === undefined ? 'they will be null' : COSTS[worst];
    return { level: 'problem', text: `${place} lacks ${names}; ${cost}.` };
  });
}

function wrongFinding(field: SeenField): Difference {
  const { path, expected, seen, missing, wrong } = field;
  const total = [...seen.values()].reduce((sum, times) => sum + times, 0);
  const misfits = misfitsIn(field);
  const found = misfits.map((type) => `${type} ${seen.get(type)} of ${total} times`);
  const loss = misfits.every(isAbsence) ? missing : wrong;
  const name = path === '' ? 'the answer itself' : path;
  const isTime = expected === 'time';
  const cost = isTime ? 'is it in another unit?' : `${COSTS[loss]}.`;
  return {
    level: wrong === 'nothing' ? 'warning' : 'problem',
    text: `${name}: ${expected} expected, ${found.join(', ')} found; ${cost}`,
    setting: isTime ? 'GATEWAY_TIME_UNIT' : undefined,
  };
}

const MAX_NAMES = 10;
function unknownFindings(unknown: Comparison['unknown']): Difference[] {
  if (unknown.size === 0) return [];
  const named = [...unknown].map(([path, type]) => `${path} (${type})`);
  const others = named.length > MAX_NAMES ? `, ${named.length - MAX_NAMES} more` : '';
  const text = `Not in the interface, and not read: ${named.slice(0, MAX_NAMES).join(', ')}${others}.`;
  return [{ level: 'warning', text }];
}
