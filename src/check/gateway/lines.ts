import { OPERATIONS } from '../../gateway/operations.ts';
import type { CallReport, Purpose } from './check-run.ts';
import { verbAndPath } from './diagnose.ts';
import type { Finding } from './finding.ts';
import type { GatewayReport } from './gateway-check.ts';
import type { ProbeName } from './probe.ts';

const PURPOSES: Readonly<Record<Purpose, string>> = {
  reach: 'without a token',
  'sign in': '',
  read: '',
  'read again': 'again',
  'find the login': 'with another claim',
  revalidate: 'with If-None-Match',
  'forged token': 'with a broken signature',
};

/** `op 12  GET /trading/positions` */
export function nameOf(operation: ProbeName): string {
  return `op ${String(OPERATIONS[operation].number).padEnd(2)}  ${verbAndPath(operation)}`;
}

const NAME_WIDTH = 48;

/** One line for a call, as soon as it has ended. */
export function callLine({
  operation,
  purpose,
  status,
  ms,
  comparison,
  instruments,
}: CallReport): string {
  const name = nameOf(operation).padEnd(NAME_WIDTH);
  const words = [
    PURPOSES[purpose],
    instruments === null ? '' : `${instruments} instruments`,
    comparison === null ? '' : fieldsIn(comparison.fields),
  ].filter((word) => word !== '');
  return `  ${name} ${String(status ?? '–').padStart(3)} ${`${ms} ms`.padStart(9)}  ${words.join(', ')}`.trimEnd();
}

function fieldsIn(fields: NonNullable<CallReport['comparison']>['fields']): string {
  const seen = fields.filter(({ seen }) => Object.keys(seen).length > 0);
  const fitting = seen.filter(({ loss, isWrong }) => loss === 'nothing' && !isWrong).length;
  const unseen = fields.length - seen.length;
  const others = unseen === 0 ? '' : `; ${unseen} in lists that are empty`;
  return `${fitting} of ${seen.length} fields as described${others}`;
}

/** The answers to questions that the interface leaves open. */
export function unknownLines({
  claimsUsed: { login, group },
  times,
  headers,
  refusesForged,
}: GatewayReport): string[] {
  const lines: [string, string][] = [];
  if (login !== null) lines.push(['claim of the login', login]);
  if (group !== null) lines.push(['claim of the group', group]);
  if (times !== null && times.s + times.ms + times.us > 0) {
    const units = [
      times.s > 0 && 'seconds',
      times.ms > 0 && 'milliseconds',
      times.us > 0 && 'microseconds',
    ];
    lines.push(['unit of times', units.filter(Boolean).join(', ')]);
  }
  if (headers !== null) {
    const named = Object.entries(headers);
    const there = named.filter(([, isThere]) => isThere).map(([name]) => name);
    const missing = named.filter(([, isThere]) => !isThere).map(([name]) => name);
    const absent = missing.length === 0 ? '' : `; not there: ${missing.join(', ')}`;
    lines.push(["catalog's headers", `${there.join(', ') || 'none'}${absent}`]);
  }
  if (refusesForged !== null && refusesForged.length > 0) {
    const numbers = refusesForged.map((name) => OPERATIONS[name].number).sort((a, b) => a - b);
    lines.push(['signatures', `checked by ops ${numbers.join(', ')}`]);
  }
  return lines.map(([name, value]) => `  ${name.padEnd(20)} ${value}`);
}

const TITLES = { problem: 'Problems', warning: 'Warnings', note: 'Notes' } as const;
const TEXT_WIDTH = 100;

/** The findings by their weight, each with the setting to mend in front. */
export function findingLines(findings: readonly Finding[]): string[] {
  return (['problem', 'warning', 'note'] as const).flatMap((level) => {
    const own = findings.filter((finding) => finding.level === level);
    if (own.length === 0) return [];
    return ['', TITLES[level], ...own.flatMap(linesOf)];
  });
}

function linesOf({ setting, operation, text }: Finding): string[] {
  const place = operation === undefined ? '' : `op ${OPERATIONS[operation].number}: `;
  const mend = setting === undefined ? '' : `${setting}  `;
  return wrapped(`${mend}${place}${text}`);
}

function wrapped(text: string): string[] {
  const lines: string[] = [];
  let line = '  -';
  for (const word of text.split(' ')) {
    if (line.length + word.length >= TEXT_WIDTH) {
      lines.push(line);
      line = '   ';
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}
