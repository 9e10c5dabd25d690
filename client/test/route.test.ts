import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { hermesRouteHint } from '../src/react-native/route-hint.ts';
import { routedUrl, routeHint } from '../src/route.ts';

const hashed = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 4);

test('the hint is the beginning of a SHA-256, also where the platform has no Web Crypto', async () => {
  // The vector of docs/clients/native.md.
  expect(await routeHint('700001')).toBe('6a08');
  for (let n = 0; n < 3_000; n += 1) {
    const login = String((n * 7_919_333_331) % 10 ** (1 + (n % 15)));
    expect(hermesRouteHint(login)).toBe(hashed(login));
  }
  for (let length = 1; length <= 55; length += 1) {
    const login = '9'.repeat(length);
    expect([hermesRouteHint(login), await routeHint(login)]).toEqual(Array(2).fill(hashed(login)));
  }
  for (const login of ['', 'é', '9'.repeat(56)]) expect(hermesRouteHint(login)).toBe(null);
});

test('the hint joins the parameters that the URL has', () => {
  expect(routedUrl('https://a/graphql', 'beef')).toBe('https://a/graphql?route=beef');
  expect(routedUrl('https://a/graphql?b=c', 'beef')).toBe('https://a/graphql?b=c&route=beef');
  expect(routedUrl('https://a/graphql', null)).toBe('https://a/graphql');
});
