import { describe, expect, test } from 'vitest';
import { toRefusal } from '../../src/gateway/gateway-error.ts';
import { errorBody } from '../../src/gateway/operations/conventions.ts';

const nothing = { error: null, message: null, email: null, details: null };

describe('a refusal', () => {
  test.each([
    [{ error: 7, message: null, email: [], details: 'none' }],
    [{ details: ['a'] }],
    [[]],
    [null],
    ['E'],
    [undefined],
  ])('in any other shape, such as %j, is empty', (body) => {
    expect(toRefusal(body)).toStrictEqual(nothing);
  });

  test('keeps details unless they are too deep to be printed', () => {
    const nested = (levels: number) =>
      JSON.parse(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`);
    expect(toRefusal(errorBody('details', { error: 'E', details: nested(20) })).details).toEqual(
      nested(20),
    );
    expect(toRefusal(errorBody('details', { error: 'E', details: nested(100_000) }))).toStrictEqual(
      {
        ...nothing,
        error: 'E',
      },
    );
  });
});
