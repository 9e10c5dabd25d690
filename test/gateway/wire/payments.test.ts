import { describe, expect, test } from 'vitest';
import { customerIdRead, withdrawalMethodsRead } from '../../../src/gateway/wire/payments.ts';

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
    expect(withdrawalMethodsRead.map(body)?.map(({ id, group }) => [id, group])).toEqual([
      ['7', 0],
      ['8', 2],
      ['9', 2],
    ]);
    expect(withdrawalMethodsRead.map([[row]])).toStrictEqual([{ ...row, id: '7', group: 0 }]);
  });

  test.each(Object.keys(row))('may lack %s', (field) => {
    const change = { ...row, id: '7', group: 0, [field]: null };
    expect(withdrawalMethodsRead.map([[{ ...row, [field]: undefined }]])).toStrictEqual([change]);
    expect(withdrawalMethodsRead.map([[{ ...row, [field]: [] }]])).toStrictEqual([change]);
  });

  test.each([[[row]], [{}], [null], [[[null]]], [[['x']]], ['[[]]']])('are not %j', (body) => {
    expect(withdrawalMethodsRead.map(body)).toBeNull();
  });

  test.each([[[]], [[[]]]])('may be none, as in %j', (body) => {
    expect(withdrawalMethodsRead.map(body)).toEqual([]);
  });
});

test.each([
  [{ customerId: 'cus_1' }, 'cus_1'],
  [{ customerId: 7 }, null],
  [{}, null],
  [null, null],
  ['cus_1', null],
])('the customer id in %j is %j', (body, expected) => {
  expect(customerIdRead.map(body)).toBe(expected);
});
