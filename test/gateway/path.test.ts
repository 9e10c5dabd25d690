import { expect, test } from 'vitest';
import { UnsafePathError } from '../../src/gateway/gateway-error.ts';
import { firstCallOf } from '../../src/gateway/operation-traits.ts';
import { OPERATIONS } from '../../src/gateway/operations.ts';
import { filledPath } from '../../src/gateway/requests.ts';
import { loginNamed } from '../support/accounts.ts';
import { pathOf } from '../support/ask-gateway.ts';
import { answer, startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, marketOrder, openClient } from './open-client.ts';

const HARMLESS = [
  ['a slash', 'a/b', 'a%2Fb'],
  ['a backslash', 'a\\b', 'a%5Cb'],
  ['a query', 'a?b=c#d', 'a%3Fb%3Dc%23d'],
  ['an encoded dot', '%2e%2e', '%252e%252e'],
  ['an encoded slash', '..%2f..', '..%252f..'],
  ['a percent sign', '100%', '100%25'],
  ['three dots', '...', '...'],
  ['a file name', 'v1..2', 'v1..2'],
  ['a space and a plus', 'a b+c', 'a%20b%2Bc'],
  ['an emoji', '📈', '%F0%9F%93%88'],
  ['a header line', 'a HTTP/1.1', 'a%20HTTP%2F1.1'],
] as const;

const UNSAFE = [
  ['empty', ''],
  ['a dot', '.'],
  ['two dots', '..'],
  ['a path to a parent', '../login'],
  ['a path to a parent further in', 'a/../../auth/login'],
  ['a path to a parent with backslashes', 'a\\..\\b'],
  ['a path to the same folder', './a'],
  ['a path with a dot at the end', 'a/.'],
  ['a text with NUL', 'a\0b'],
  ['a text with a line break', 'a\r\nHost: b'],
  ['a text with the last C1 control', 'a\u009fb'],
  ['a text with half a surrogate pair', 'a\ud800b'],
  ['the other half of a surrogate pair', '\udc00'],
] as const;

test.each(HARMLESS)('a path value with %s becomes one segment', (_, value, segment) => {
  const { path } = firstCallOf(OPERATIONS.setValue);
  expect(filledPath(path, { key: value }, 'write')).toBe(path.replace('{key}', segment));
});

test('the refusal of a value that is not from a claim names the read’s argument', () => {
  const refused = expect.objectContaining({ argument: 'id' });
  expect(() => filledPath('/items/{id}', { id: '..' }, 'read')).toThrow(refused);
});

test.each(UNSAFE)(
  'a value that is %s is refused by each operation, and nothing is sent',
  async (_, value) => {
    await using gateway = await startScriptedGateway((socket) => socket.end(answer(200, {})));
    await using open = openClient(gateway.url);
    const { client } = open;
    const { getAllTickers, getSession, setValue } = OPERATIONS;
    const session = { login: loginNamed(value), onOwned() {} };
    for (const [name, argument, call] of [
      ['group', null, client.read(anyCaller, getAllTickers, { group: value, etag: null })],
      ['login', null, client.read(anyCaller, getSession, session)],
      ['key', 'input.key', client.write(anyCaller, setValue, { key: value, value: 1 })],
    ] as const) {
      const error = await call.catch((reason) => reason);
      expect(error).toBeInstanceOf(UnsafePathError);
      expect(error.message).toContain(`"${name}"`);
      expect(error.argument).toBe(argument);
    }
    expect(gateway.connections).toBe(0);
  },
);

test('every path begins with the path of the gateway’s address', async () => {
  await using gateway = await startScriptedGateway((socket) => socket.end(answer(200, {})));
  await using open = openClient(`${gateway.url}/api/v1/`);
  await open.client.order(anyCaller, OPERATIONS.openPosition, marketOrder);
  expect(gateway.requests.map(({ path }) => path)).toEqual([`/api/v1${pathOf('openPosition')}`]);
});
