import type { Read, ViewerRead } from '../answers.ts';
import { type Description, described } from './described.ts';
import { digits, text } from './scalars.ts';

const METHOD = {
  id: digits,
  title: text,
  icon: text,
  type: text,
  crmType: text,
  status: text,
  subtitle: text,
};

/** The reads that need nothing but their viewer; `trading-graph check` goes by their descriptions. */
export const READS = {
  getWithdrawalMethods: {
    operation: 'getWithdrawalMethods',
    expected: 'list of lists of methods',
    // The index of the outer list is kept, its meaning is not known.
    ...described([[METHOD]], (lists) =>
      lists.flatMap((rows, group) => rows.map((row) => ({ ...row, group }))),
    ),
  },
  getCustomerId: {
    operation: 'getCustomerId',
    expected: 'customer id',
    ...described({ customerId: text }, ({ customerId }) => customerId),
  },
} satisfies {
  [Name in ViewerRead]: Read<unknown> & { operation: Name; description: Description };
};

export type AnswerOf<Name extends ViewerRead> = NonNullable<
  ReturnType<(typeof READS)[Name]['map']>
>;
