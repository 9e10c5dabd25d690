import type { SettingName } from '../config/settings.ts';
import { OPERATIONS, type ReadName } from '../gateway/operations.ts';

/** The operations that are checked: those that change nothing, and the sign-in. */
export type CheckedName = ReadName | 'login';

/** One operation of the check. It contains no value of the answer. */
export interface CallReport {
  readonly operation: CheckedName;
  /** Empty for the read or the sign-in itself. */
  readonly remark: string;
  /** The method and the path that were sent, with `{names}` in place of values. */
  readonly sent: string;
  readonly status: number | null;
  readonly ms: number;
  /** How many fields the answer has, and how many of them are as described. */
  readonly fields: { readonly fitting: number; readonly seen: number } | null;
}

/** One result of the check. It names settings, types and paths, and quotes no value. */
export interface Finding {
  /** A `problem` fails the check; a `warning` may have a cost. */
  readonly level: 'problem' | 'warning';
  readonly text: string;
  /** The setting to correct, if there is one: of the service, or of the check itself. */
  readonly setting?: SettingName | 'CHECK_TOKEN' | 'CHECK_PASSWORD' | undefined;
  readonly operation?: CheckedName | undefined;
}

const NAME_WIDTH = 48;

/** One line for an operation: its call and the answer. */
export function callLine({ operation, remark, sent, status, ms, fields }: CallReport): string {
  const number = String(OPERATIONS[operation].number).padEnd(2);
  const name = `op ${number}  ${sent}`.padEnd(NAME_WIDTH);
  const remarks =
    fields === null ? remark : `${fields.fitting} of ${fields.seen} fields as described`;
  const statusColumn = String(status ?? '–').padStart(3);
  const timeColumn = `${ms} ms`.padStart(9);
  return `  ${name} ${statusColumn} ${timeColumn}  ${remarks}`.trimEnd();
}

const TITLES = { problem: 'Problems', warning: 'Warnings' } as const;

/** The findings by level. Each begins with the setting to correct. */
export function findingLines(findings: readonly Finding[]): string[] {
  return (['problem', 'warning'] as const).flatMap((level) => {
    const own = findings.filter((finding) => finding.level === level);
    return own.length === 0 ? [] : ['', TITLES[level], ...own.map(findingLine)];
  });
}

function findingLine({ setting, operation, text }: Finding): string {
  const place = operation === undefined ? '' : `op ${OPERATIONS[operation].number}: `;
  const toCorrect = setting === undefined ? '' : `${setting}  `;
  return `  - ${toCorrect}${place}${text}`;
}
