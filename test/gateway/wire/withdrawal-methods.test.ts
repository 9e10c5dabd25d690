import { describe, expect, test } from 'vitest';
import { READS } from '../../../src/gateway/wire/reads.ts';
import { readingIn } from '../../../src/gateway/wire/scalars.ts';

const methodsIn = (body: unknown) => READS.getWithdrawalMethods.map(body, readingIn('auto'));

describe('withdrawal methods', () => {
  const row = {
    title: 'Bank',
    icon: 'bank',
    type: 'bank-transfer',
    crmType: 'bank',
    id: 7,
    status: 'APPROVED',
    subtitle: '**** 1',
  };

  test('keep the list they came in', () => {
    const body = [
      [row],
      [],
      [
        { ...row, id: 8 },
        { ...row, id: 9 },
      ],
    ];
    expect(methodsIn(body)?.map(({ id, group }) => [id, group])).toEqual([
      ['7', 0],
      ['8', 2],
      ['9', 2],
    ]);
    expect(methodsIn([[row]])).toStrictEqual([{ ...row, id: '7', group: 0 }]);
  });

  test.each(Object.keys(row))('may lack %s', (field) => {
    const change = { ...row, id: '7', group: 0, [field]: null };
    expect(methodsIn([[{ ...row, [field]: undefined }]])).toStrictEqual([change]);
    expect(methodsIn([[{ ...row, [field]: [] }]])).toStrictEqual([change]);
  });
});
