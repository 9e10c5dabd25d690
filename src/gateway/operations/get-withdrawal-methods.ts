import { read } from '../define-operation.ts';
import * as f from '../fields.ts';
import type { Reading } from '../scalars.ts';

export const METHOD = f.table('WithdrawalMethod', {
  id: f.numericId,
  title: f.text,
  icon: f.text,
  type: f.text,
  crmType: f.text,
  status: f.text,
  subtitle: f.text,
});

export type WireMethod = f.WireOf<typeof METHOD.fields>;
export type SentMethod = f.SentBy<typeof METHOD.fields>;

export const getWithdrawalMethods = read({
  name: 'getWithdrawalMethods',
  number: 11,
  area: 'rest',
  proves: 'token',
  calls: {
    list: {
      method: 'GET',
      path: '/payments/client/withdrawal-methods',
      answer: {
        kind: 'list',
        of: { kind: 'list', of: METHOD.shape, wrong: 'answer' },
        wrong: 'answer',
      },
    },
  },
  run: async (calls) => calls.value(await calls.send('list'), 'methods', methodsIn),
});

/** Keeps the index in the outer list, whose meaning is unknown. Null if a row is not a method. */
export function methodsIn(body: unknown, reading: Reading) {
  if (!Array.isArray(body) || !body.every(Array.isArray)) return null;
  const methods = body.flatMap((rows: readonly unknown[], group) =>
    rows.map((row) => {
      const method = METHOD.read(row, reading);
      return method && { ...method, group };
    }),
  );
  return methods.includes(null) ? null : methods.filter((each) => each !== null);
}

export type WithdrawalMethod = NonNullable<ReturnType<typeof methodsIn>>[number];
