import type { Read } from '../answers.ts';
import { digits, isRow, type Row, text } from './scalars.ts';

export const withdrawalMethodsRead: Read<readonly WithdrawalMethod[]> = {
  operation: 'getWithdrawalMethods',
  map: toWithdrawalMethods,
  expected: 'list of lists of methods',
};

export const customerIdRead: Read<string> = {
  operation: 'getCustomerId',
  map: (body) => (isRow(body) ? text(body.customerId) : null),
  expected: 'customer id',
};

/** The interface nests the list in a list; the outer index is kept, its meaning is not known. */
function toWithdrawalMethods(body: unknown): readonly WithdrawalMethod[] | null {
  if (!Array.isArray(body) || !body.every(isListOfRows)) return null;
  return body.flatMap((rows, group) => rows.map((row) => toMethod(row, group)));
}

function isListOfRows(list: unknown): list is readonly Row[] {
  return Array.isArray(list) && list.every(isRow);
}

export type WithdrawalMethod = Readonly<ReturnType<typeof toMethod>>;

function toMethod(row: Row, group: number) {
  return {
    id: digits(row.id),
    group,
    title: text(row.title),
    icon: text(row.icon),
    type: text(row.type),
    crmType: text(row.crmType),
    status: text(row.status),
    subtitle: text(row.subtitle),
  };
}
