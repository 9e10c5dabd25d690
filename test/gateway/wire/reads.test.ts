import { expect, test } from 'vitest';
import { READ_NAMES } from '../../../src/gateway/operations.ts';
import { OPERATION_CASES } from '../../operations/all.ts';
import { wrongFor } from './rows.ts';

const ODD = READ_NAMES.flatMap((name) => {
  const { read, odd } = OPERATION_CASES[name];
  return odd.map(([body, expected]) => ({ name, read, body, expected }));
});

test.each(ODD)('$name reads $body as $expected', async ({ read, body, expected }) => {
  expect(await read(body, 'auto')).toStrictEqual(expected);
});

test('withdrawal methods keep the index of their list, and may lack any field', () => {
  const { read, answer } = OPERATION_CASES.getWithdrawalMethods;
  const [[row]] = answer as [[Record<string, unknown>]];
  const found = { ...row, id: '7', group: 2 };
  for (const [name, right] of Object.entries(row)) {
    const wrongs = wrongFor(right).map(([, wrong]) => wrong);
    const bodies = wrongs.map((wrong) => ({ ...row, [name]: wrong }));
    const expected = bodies.map(() => ({ ...found, [name]: null }));
    expect(read([[row], [], [row, ...bodies]], 'auto')).toStrictEqual([
      { ...found, group: 0 },
      found,
      ...expected,
    ]);
  }
});
