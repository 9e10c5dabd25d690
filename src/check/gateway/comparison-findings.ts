import type { TimeUnit } from '../../gateway/scalars.ts';
import type { Loss } from '../../gateway/shape.ts';
import { type Comparison, MISSING, NULL, type SeenField } from './compare.ts';
import type { Finding } from './finding.ts';

type Found = Omit<Finding, 'operation'>;

const COSTS: Readonly<Record<Loss, string>> = {
  nothing: 'the service does without',
  value: 'it will be null',
  row: 'such an instrument is left out of the catalog',
  answer: 'the whole answer cannot be used (GATEWAY_CONTRACT)',
};

/** The differences from the gateway's interface. Fields that every row of a list lacks are one finding. */
export function comparisonFindings({ fields, unknown }: Comparison): Found[] {
  // An absent field is in no row. A wrong one has another type in some row. An incomplete one lacks a value in some row.
  const absent = fields.filter((field) => isAbsent(field) && field.missing !== 'nothing');
  const wrong = fields.filter((field) => !isAbsent(field) && othersIn(field).length > 0);
  const incomplete = fields.filter(
    (field) => !absent.includes(field) && field.missing === 'value' && lacksValues(field),
  );
  return [
    ...absentFindings(absent),
    ...wrong.map((field): Found => ({ level: levelOf(field), text: wrongText(field) })),
    ...missingFindings(incomplete),
    ...emptyFindings(fields),
    ...unknownFindings(unknown),
  ];
}

/** Whether the field is missing in every row, and null in none. */
function isAbsent({ seen }: SeenField): boolean {
  return Object.keys(seen).join() === MISSING;
}

function lacksValues({ seen }: SeenField): boolean {
  return (seen[MISSING] ?? 0) + (seen[NULL] ?? 0) > 0;
}

/** The seen types other than the expected one. Missing and null count only if they cost a row or the whole answer. */
function othersIn({ expected, seen, missing }: SeenField): string[] {
  const isCostly = missing === 'row' || missing === 'answer';
  const isAbsence = (type: string) => type === MISSING || type === NULL;
  return Object.keys(seen).filter((type) => type !== expected && (isCostly || !isAbsence(type)));
}

function levelOf({ wrong }: SeenField): Finding['level'] {
  return wrong === 'nothing' ? 'note' : 'problem';
}

/** One finding for the fields of each list or object. */
function absentFindings(fields: readonly SeenField[]): Found[] {
  const byParent = Map.groupBy(fields, ({ path }) => path.slice(0, path.lastIndexOf('.') + 1));
  return [...byParent].map(([parent, lacking]) => {
    const names = lacking.map(({ path }) => path.slice(parent.length)).join(', ');
    const place = parent === '' ? 'The answer' : `Each of ${parent.slice(0, -1)}`;
    const losses = lacking.map(({ missing }) => missing);
    const worst = (['answer', 'row'] as const).find((loss) => losses.includes(loss));
    const cost = worst === undefined ? 'they will be null' : COSTS[worst];
    const text = `${place} lacks ${names}; ${cost}. Does the gateway have other names for them? The operation's file in src/gateway/operations/ says which names are read.`;
    return { level: 'problem', text };
  });
}

function wrongText(field: SeenField): string {
  const { path, expected, seen, missing, wrong } = field;
  const total = Object.values(seen).reduce((sum, times) => sum + times, 0);
  const others = othersIn(field);
  const found = others.map((type) =>
    total === 1 ? type : `${type} ${seen[type]} of ${total} times`,
  );
  const isWrong = others.some((type) => type !== MISSING && type !== NULL);
  const name = path === '' ? 'the answer itself' : path;
  return `${name}: ${expected} expected, ${found.join(', ')} found; ${COSTS[isWrong ? wrong : missing]}.`;
}

/** A note for fields that the interface does not require. */
function missingFindings(fields: readonly SeenField[]): Found[] {
  if (fields.length === 0) return [];
  const names = fields.map(({ path, expected, seen }) =>
    Object.hasOwn(seen, expected) ? `${path} (sometimes)` : path,
  );
  return [{ level: 'note', text: `Missing, or null: ${names.join(', ')}.` }];
}

function emptyFindings(fields: readonly SeenField[]): Found[] {
  const isUnseen = ({ seen }: SeenField) => Object.keys(seen).length === 0;
  // The field before a list's rows is the list itself. If only the list was seen, it is empty.
  const lists = fields.filter((field, index) => {
    const list = fields[index - 1] ?? field;
    return field.expected === 'object' && isUnseen(field) && !isUnseen(list);
  });
  if (lists.length === 0) return [];
  const names = lists.map(({ path }) => path.replace(/\[\]$/, '') || 'the list').join(', ');
  const text = `Empty: ${names}. Nothing is known of their rows: check with an account that has some.`;
  return [{ level: 'note', text }];
}

const MAX_NAMES = 10;
const PAGING_FIELD = /(^|\.)(next\w*|cursor|has_?(more|next)|total\w*)$/i;

function unknownFindings(unknown: Comparison['unknown']): Found[] {
  if (unknown.length === 0) return [];
  const named = unknown.map(({ path, type }) => `${path} (${type})`);
  const others = named.length > MAX_NAMES ? `, ${named.length - MAX_NAMES} more` : '';
  const text = `Not in the interface, and not read: ${named.slice(0, MAX_NAMES).join(', ')}${others}.`;
  const page = unknown.find(({ path }) => PAGING_FIELD.test(path) && !path.includes('[]'));
  if (page === undefined) return [{ level: 'note', text }];
  const pages = `Is the answer one page of several (${page.path})? Others are never asked for: docs/your-own.md says how to read pages.`;
  return [
    { level: 'note', text },
    { level: 'warning', text: pages },
  ];
}

const YEAR_2000_MS = 946_684_800_000;
const DAY_MS = 86_400_000;

/** Whether the configured unit is wrong: it puts a time before the year 2000, or more than a day in the future. */
export function isWrongUnit(times: readonly number[], unit: TimeUnit, nowMs: number): boolean {
  if (unit === 'auto') return false;
  const msPerUnit = unit === 's' ? 1_000 : 1;
  return times.some((time) => {
    const ms = time * msPerUnit;
    return ms < YEAR_2000_MS || ms > nowMs + DAY_MS;
  });
}
