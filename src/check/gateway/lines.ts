import { OPERATIONS } from '../../gateway/operations.ts';
import type { CallReport } from './check-run.ts';
import type { Finding } from './finding.ts';

const NAME_WIDTH = 48;

/** One line for an operation: its call and the answer. */
export function callLine({ operation, purpose, sent, status, ms, fields }: CallReport): string {
  const number = String(OPERATIONS[operation].number).padEnd(2);
  const name = `op ${number}  ${sent}`.padEnd(NAME_WIDTH);
  const words = [
    purpose === 'read' || purpose === 'sign in' ? '' : purpose,
    fields === null ? '' : `${fields.fitting} of ${fields.seen} fields as described`,
  ].filter((word) => word !== '');
  const statusColumn = String(status ?? '–').padStart(3);
  const timeColumn = `${ms} ms`.padStart(9);
  return `  ${name} ${statusColumn} ${timeColumn}  ${words.join(', ')}`.trimEnd();
}

const TITLES = { problem: 'Problems', warning: 'Warnings', note: 'Notes' } as const;
const TEXT_WIDTH = 100;

/** The findings by level. Each begins with the setting to correct. */
export function findingLines(findings: readonly Finding[]): string[] {
  return (['problem', 'warning', 'note'] as const).flatMap((level) => {
    const own = findings.filter((finding) => finding.level === level);
    return own.length === 0 ? [] : ['', TITLES[level], ...own.flatMap(linesOf)];
  });
}

function linesOf({ setting, operation, text }: Finding): string[] {
  const place = operation === undefined ? '' : `op ${OPERATIONS[operation].number}: `;
  const toCorrect = setting === undefined ? '' : `${setting}  `;
  return wrapped(`${toCorrect}${place}${text}`);
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
