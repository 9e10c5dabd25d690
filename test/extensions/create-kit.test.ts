import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createKit } from '../../src/extensions/create-kit.ts';
import type { Kit } from '../../src/extensions/kit.ts';
import { loadExtensions } from '../../src/extensions/load-extensions.ts';
import { ownFolder } from '../support/own-folder.ts';

const URL = 'https://news.example.com/api';
const folder = ownFolder();

test('a file that waits for what never comes is not waited for', async () => {
  const never = 'await new Promise(() => {});';
  for (const text of [
    `${never} export default () => {};`,
    `export default async () => { ${never} };`,
  ]) {
    const file = join(folder.path, `never-${text.length}.mjs`);
    await writeFile(file, text);
    const loading = loadExtensions([file], 1_000, { loadMs: 100 });
    await expect(loading).rejects.toThrow(`it was not loaded within 100 ms, in ${file}`);
  }
});

/** The service's own token goes nowhere else. */
const SENT = { path: '/a/{id}', backend: 'news', isAnonymous: true, refreshes: [] };

test('a backend gets defaults, and its operations its name', () => {
  const { kitFor, backends } = createKit();
  const kit = kitFor('a');
  kit.backend({
    name: 'news',
    url: URL,
    headers: { 'X-Key': 'k' },
    reads: { articles: '/a/{id}' },
    writes: { add: '/a', rename: { method: 'PUT', path: '/a/{id}' } },
  });
  expect([...backends.values()]).toEqual([
    {
      name: 'news',
      url: URL,
      timeoutMs: 5_000,
      connections: 32,
      maxBytes: 8_388_608,
      pollsPerSecond: 100,
      retries: true,
      headers: { 'x-key': 'k' },
      forwardToken: false,
      viewerHeader: null,
      operations: {
        'news.articles': expect.objectContaining({ ...SENT, verb: 'GET', effect: 'read' }),
        'news.add': expect.objectContaining({ ...SENT, path: '/a', verb: 'POST', effect: 'write' }),
        'news.rename': expect.objectContaining({ ...SENT, verb: 'PUT', effect: 'write' }),
      },
    },
  ]);
});

test.each([
  [{ name: 'orders' }, 'the backend orders is there already'],
  [{ name: 'payments' }, 'the backend payments is there already'],
  [{ name: 'taken' }, 'the backend taken is there already'],
  [{ name: 'News' }, 'name of the backend News must be a name of a-z, 0-9, - and _'],
  [{ name: undefined }, 'name of the backend (without a name) must be a name'],
  [{ url: 'news:8080' }, 'url of the backend news must be an http or https address'],
  [{ url: undefined }, 'query or fragment (it is undefined)'],
  [{ url: 'https://u:p@news/' }, 'url of the backend news must be an http or https address'],
  [{ url: 'https://news/?key=1' }, 'url of the backend news must be an http or https address'],
  [
    { timeoutMs: 0 },
    'timeoutMs of the backend news must be a whole number from 1 to 2147483647 (it is 0)',
  ],
  [{ timeoutMs: 2 ** 31 }, 'timeoutMs of the backend news must be a whole number from 1 to'],
  [{ connections: 1.5 }, 'connections of the backend news must be a whole number'],
  [{ maxBytes: Number.NaN }, 'maxBytes of the backend news must be a whole number'],
  [{ retries: 2 }, 'retries of the backend news must be true or false (it is 2)'],
  [{ reads: undefined }, 'reads of the backend news must be an object of paths'],
  [
    { reads: ['/a'] },
    'reads of the backend news must be an object of paths by their names (it is a list)',
  ],
  [
    { reads: { a: 'articles' } },
    'reads.a of the backend news must be a path that begins with /, without query (it is articles)',
  ],
  [
    { reads: { a: { path: '/a' } } },
    'reads.a of the backend news must be a path that begins with /, without query (it is an object)',
  ],
  [{ reads: { a: '/a?lang=en' } }, 'without query (it is /a?lang=en)'],
  [{ writes: { a: 'articles' } }, 'writes.a of the backend news must be a path'],
  [
    { writes: { a: null } },
    'writes.a of the backend news must be a path that begins with /, without query (it is null)',
  ],
  [
    { writes: { a: { path: '/a', refreshes: 'alerts' } } },
    'writes.a.refreshes of the backend news must be a list of names of live lists',
  ],
  [{ writes: { a: { method: 'PUT' } } }, 'writes.a.path of the backend news must be a path'],
  [
    { writes: { a: { method: 'GET', path: '/a' } } },
    'writes.a.method of the backend news must be one of POST, PUT, PATCH, DELETE',
  ],
  [{ reads: { a: '/a' }, writes: { a: '/a' } }, 'a of the backend news is a read and a write'],
  [{ headers: { 'x y': 'k' } }, 'headers of the backend news must be an object of headers'],
  [{ headers: { x: 'a\r\nb: c' } }, 'headers of the backend news must be'],
  [{ headers: { 'Idempotency-Key': 'k' } }, 'without idempotency-key'],
  [{ headers: 'x: k' }, 'headers of the backend news must be'],
  [{ loginHeader: 'x login' }, 'loginHeader of the backend news must be the name of a header'],
  [
    { forward: 'x-tenant' },
    'forward of the backend news must be a list of headers that no call has of itself (it is a string)',
  ],
  [{ forward: [7] }, 'forward of the backend news must be a list of headers'],
  [{ forward: ['Content-Length'] }, 'must be a list of headers that no call has of itself'],
  [{ loginHeader: 'Idempotency-Key' }, 'must be the name of a header that no call has of itself'],
  [
    { headers: { 'X-Key': 'k' }, forward: ['x-key'] },
    'headers of the backend news have x-key already',
  ],
  [
    { headers: { 'X-Key': 'k' }, loginHeader: 'x-KEY' },
    'headers of the backend news have x-KEY already',
  ],
  [
    { headers: { Authorization: 'Bearer k' }, forwardToken: true },
    'headers of the backend news have authorization already',
  ],
  [{ judge: 'ok' }, 'judge of the backend news must be a function'],
  [{ writs: {} }, 'writs of the backend news is no option: these are name, url,'],
])('a backend with %o is refused', (given, reason) => {
  const kit = createKit().kitFor('a');
  kit.backend({ name: 'taken', url: URL, reads: {} });
  const options = { name: 'news', url: URL, reads: {}, ...given } as Parameters<Kit['backend']>[0];
  expect(() => kit.backend(options)).toThrow(reason);
});

test('what is no object of options, and half a loader, are refused', () => {
  const kit = createKit().kitFor('a');
  expect(() => kit.backend('news' as never)).toThrow(
    'backend(…) takes an object of options, not a',
  );
  const { loader } = kit.backend({ name: 'news', url: URL, reads: { all: '/all' } });
  for (const half of [undefined, { request: () => ({}) }])
    expect(() => loader('all', half as never)).toThrow(
      "loader('all', …) of the backend news takes",
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
  const wrong = [{ retryable: 'no' }, { outcome: 'fine' }, { advice: undefined }];
  for (const half of [undefined, ...wrong.map((each) => ({ ...traits, ...each }))])
    expect(() => kit.error('NEWS_LATE', half as never)).toThrow("error('NEWS_LATE', …) takes {");
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

test.each([
  [{ name: 'Lists' }, 'name of the live list Lists must be a name in camelCase'],
  [{ name: undefined }, 'name of the live list (without a name) must be a name in camelCase'],
  [{ key: 'id' }, 'key of the live list lists must be a function'],
  [{ read: undefined }, 'read of the live list lists must be a function'],
  [{ everyMs: 99 }, 'everyMs of the live list lists must be a whole number from 100 on (it is 99)'],
  [{ of: 'group' }, 'of of the live list lists must be account or everybody'],
  [{ moving: 'price' }, 'moving of the live list lists must be a list of texts'],
  [{ listSize: 0 }, 'listSize of the live list lists must be a whole number from 1 on'],
  [{ evry: 1 }, 'evry of the live list lists is no option: these are name, changes,'],
  [{ args: { a: {} } }, 'args of the live list lists are for a list of everybody'],
  [
    { of: 'everybody', args: { after: {} } },
    'the argument after of the live list lists has its subscription already',
  ],
  [{ backend: {} }, 'backend of the live list lists must be what backend(…) has returned'],
])('a live list with %o is refused', (given, message) => {
  const kit = createKit().kitFor('a');
  const type = kit.builder.objectRef<{ readonly id: string }>('NeverBuilt');
  const list = { name: 'lists', type, key: () => '', everyMs: 100, read: async () => [], ...given };
  expect(() => kit.live(list as never)).toThrow(message);
});

test.each([
  [{ loginHeader: 'X-Login' }, 'X-Login'],
  [{ forward: ['x-tenant'] }, 'x-tenant'],
  [{ forwardToken: true }, 'authorization'],
])('a list of everybody over a backend with %o is refused', (told, header) => {
  const kit = createKit().kitFor('a');
  const type = kit.builder.objectRef<{ readonly id: string }>('NeverBuiltEither');
  const backend = kit.backend({ name: 'told', url: URL, reads: {}, ...told });
  const list = { name: 'lists', type, key: () => '', everyMs: 100, read: async () => [] };
  expect(() => kit.live({ ...list, backend, of: 'everybody' })).toThrow(
    `the live list lists is everybody’s, and told is sent the viewer’s ${header}`,
  );
});

test('a live list has the ceiling of its file’s only backend, and must name one of several', () => {
  const { kitFor, lists } = createKit();
  const kit = kitFor('a');
  const type = kit.builder.objectRef<{ readonly id: string }>('NeverBuiltAsWell');
  const live = (name: string, backend?: ReturnType<typeof kit.backend>) =>
    kit.live({
      name,
      type,
      key: () => '',
      everyMs: 100,
      read: async () => [],
      ...(backend && { backend }),
    });
  live('without');
  const first = kit.backend({ name: 'first', url: URL, pollsPerSecond: 7, reads: {} });
  live('only');
  kit.backend({ name: 'second', url: URL, reads: {} });
  expect(() => live('which')).toThrow('the live list which must name the backend that it reads');
  live('named', first);
  expect(lists).toMatchObject([
    { name: 'without', backend: null, pollsPerSecond: 100 },
    { name: 'only', backend: 'first', pollsPerSecond: 7 },
    { name: 'named', backend: 'first', pollsPerSecond: 7 },
  ]);
});
