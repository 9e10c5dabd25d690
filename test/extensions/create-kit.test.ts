import { expect, test } from 'vitest';
import { createKit } from '../../src/extensions/create-kit.ts';

const URL = 'https://news.example.com/api';

test('a backend gets defaults, and its operations its name', () => {
  const { kitFor, backends } = createKit();
  const kit = kitFor('a');
  kit.backend({
    name: 'news',
    url: URL,
    headers: { 'X-Key': 'k' },
    reads: { articles: '/a/{id}' },
  });
  expect([...backends.values()]).toEqual([
    {
      ...{ name: 'news', url: URL, timeoutMs: 5_000, connections: 32, maxBytes: 8_388_608 },
      ...{ retries: true, headers: { 'x-key': 'k' }, forwardToken: false },
      ...{ reads: { 'news.articles': '/a/{id}' }, writes: {} },
    },
  ]);
});

test.each([
  [{ name: 'orders' }, 'the backend orders is there already'],
  [{ name: 'payments' }, 'the backend payments is there already'],
  [{ name: 'taken' }, 'the backend taken is there already'],
  [{ name: 'News' }, 'News is no name of a backend'],
  [{ url: 'news:8080' }, 'the url of the backend news is none of http or https'],
  [{ timeoutMs: 0 }, 'timeoutMs of the backend news is 0'],
  [{ connections: 1.5 }, 'connections of the backend news is 1.5'],
  [{ maxBytes: Number.NaN }, 'maxBytes of the backend news is NaN'],
  [{ reads: { a: 'articles' } }, 'reads.a of the backend news has no / first'],
  [{ reads: { a: { path: '/a' } } }, "reads.a of the backend news is no path, but { path: '/a' }"],
  [{ writes: { a: 'articles' } }, 'path of writes.a of the backend news has no / first'],
  [
    { writes: { a: { method: 'GET', path: '/a' } } },
    'method of writes.a of the backend news is GET',
  ],
  [{ headers: { 'x y': 'k' } }, 'x y'],
  [{ headers: { x: 'a\r\nb: c' } }, 'a'],
])('a backend with %o is refused', (given, reason) => {
  const kit = createKit().kitFor('a');
  kit.backend({ name: 'taken', url: URL, reads: {} });
  expect(() => kit.backend({ name: 'news', url: URL, reads: {}, ...given } as never)).toThrow(
    reason,
  );
});

test('a code is registered once, and makes errors of it', () => {
  const { kitFor, codes } = createKit();
  const kit = kitFor('a');
  const traits = { retryable: true, outcome: 'refused', advice: 'Wait.' } as const;
  const full = kit.error('NEWS_FULL', traits);
  expect(codes).toEqual({ NEWS_FULL: traits });
  expect(full('Too many.')).toMatchObject({
    described: { message: 'Too many.', extensions: { code: 'NEWS_FULL', retryable: true } },
  });
  for (const code of ['NEWS_FULL', 'INTERNAL', 'news'] as const) {
    expect(() => kit.error(code, traits)).toThrow(code);
  }
});

test('sizes and times that are none are refused', () => {
  const kit = createKit().kitFor('a');
  for (const most of [0, 1.5, Number.NaN]) {
    expect(() => kit.listSize(most)).toThrow('listSize');
    expect(() => kit.listSize({ argument: 'limit', most })).toThrow('listSize');
  }
  for (const seconds of [0, -1, Number.NaN])
    expect(() => kit.shared({ seconds })).toThrow('shared');
});
