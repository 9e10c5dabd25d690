import { OPERATIONS, type Proves, type ReadName } from '../operations.ts';
import { type Description, described } from './described.ts';
import { digits, type Reading, text } from './scalars.ts';

/** A read that needs nothing but its viewer and what it is asked with: `ViewerGateway.read` calls it, `Scope.read` memoizes it. */
export interface Read<T> {
  readonly operation: ReadName;
  /** Names the shape of a valid answer, for the log. */
  readonly expected: string;
  /** Checks the JSON of an answer and maps it; null where it breaks the interface. */
  readonly map: (body: unknown, reading: Reading) => T | null;
}

const METHOD = {
  id: digits,
  title: text,
  icon: text,
  type: text,
  crmType: text,
  status: text,
  subtitle: text,
};

/** The other reads' answers name a login or a group, which they prove, or are polled. `trading-graph check` goes by the descriptions. */
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
} satisfies { readonly [Name in ReadName]?: Read<unknown> & { description: Description } };

/** Those that a request may make ahead, for what their 200 proves. */
export const PROVING_READS = Object.values<Read<unknown>>(READS).filter(
  ({ operation }) => (OPERATIONS[operation].proves as Proves) !== 'nothing',
);

export type AnswerOf<Name extends keyof typeof READS> = NonNullable<
  ReturnType<(typeof READS)[Name]['map']>
>;
