import { expect, test } from 'vitest';
import { READ_NAMES } from '../../../src/gateway/operations.ts';
import { OPERATION_CASES } from '../../operations/cases.ts';

const ODD = READ_NAMES.flatMap((name) => {
  const { read, odd } = OPERATION_CASES[name];
  return odd.map(([body, expected]) => ({ name, read, body, expected }));
});

test.each(ODD)('$name reads $body as $expected', async ({ read, body, expected }) => {
  expect(await read(body, 'auto')).toStrictEqual(expected);
});
