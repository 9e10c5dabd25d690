import { describe, expect, test } from 'vitest';
import { toLoginGrant, toRefusal } from '../../../src/gateway/wire/bodies.ts';

const nothing = { error: null, message: null, email: null, ok: null, details: null };

describe('a refusal', () => {
  test.each([
    [{ error: 'E', message: 'M', details: { a: [1] } }],
    [{ error: 'E', ok: false }],
    [{ error: 'E', email: 'a@example.com', ok: true }],
    [{ message: 'M' }],
  ])('in the shape %j is read whole', (body) => {
    expect(toRefusal(body)).toStrictEqual({ ...nothing, ...body });
  });

  test.each([
    [{ error: 7, message: null, email: [], ok: 'no', details: 'none' }],
    [{ details: ['a'] }],
    [[]],
    [null],
    ['E'],
    [undefined],
  ])('in any other, as %j, says nothing', (body) => {
    expect(toRefusal(body)).toStrictEqual(nothing);
  });

  test('keeps details that can be printed, and none that cannot', () => {
    const nested = (levels: number) =>
      JSON.parse(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`);
    expect(toRefusal({ error: 'E', details: nested(20) }).details).toEqual(nested(20));
    expect(toRefusal({ error: 'E', details: nested(100_000) })).toStrictEqual({
      ...nothing,
      error: 'E',
    });
  });
});

describe('a login', () => {
  test('has its token, and what else is known', () => {
    const body = { access_token: 'a', refresh_token: 'r', passkey: true, more: 1 };
    expect(toLoginGrant(body)).toStrictEqual({
      accessToken: 'a',
      refreshToken: 'r',
      passkey: true,
    });
    expect(toLoginGrant({ access_token: 'a', refresh_token: 7 })).toStrictEqual({
      accessToken: 'a',
      refreshToken: null,
      passkey: null,
    });
  });

  test.each([[{}], [{ access_token: '' }], [{ access_token: 7 }], [[]], [null]])(
    'is not %j',
    (body) => {
      expect(toLoginGrant(body)).toBeNull();
    },
  );
});
