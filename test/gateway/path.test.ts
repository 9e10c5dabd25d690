import { describe, expect, test } from 'vitest';
import { UnsafePathError } from '../../src/gateway/errors.ts';
import { OPERATIONS } from '../../src/gateway/operations.ts';
import { createPath } from '../../src/gateway/request-templates.ts';
import { OPERATION_CASES } from '../operations/all.ts';
import { openSandbox } from '../sandbox/sandbox-client.ts';
import { answer, startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, openClient } from './open-client.ts';

const HARMLESS = [
  ['a plain word', 'theme', 'theme'],
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
  ['a semicolon', 'a;b', 'a%3Bb'],
  ['a header line', 'a HTTP/1.1', 'a%20HTTP%2F1.1'],
] as const;

const UNSAFE = [
  ['empty', ''],
  ['a dot', '.'],
  ['two dots', '..'],
  ['climbing', '../login'],
  ['climbing further in', 'a/../../auth/login'],
  ['climbing with backslashes', 'a\\..\\b'],
  ['staying put', './a'],
  ['a dot at the end', 'a/.'],
  ['NUL', 'a\0b'],
  ['a line break', 'a\r\nHost: b'],
  ['a tab', 'a\tb'],
  ['DEL', 'a\u007fb'],
  ['the last C0 control', 'a\u001fb'],
  ['a C1 control', 'a\u0085b'],
  ['the last C1 control', 'a\u009fb'],
  ['half a surrogate pair', 'a\ud800b'],
  ['the other half', '\udc00'],
] as const;

describe('a path value', () => {
  test.each(HARMLESS)('with %s is one segment', (_, value, segment) => {
    expect(createPath(OPERATIONS.setValue)({ key: value })).toBe(`/user/kv/${segment}`);
  });

  test.each(UNSAFE)('that is %s is refused by its name', (_, value) => {
    const fill = () => createPath(OPERATIONS.setValue)({ key: value });
    expect(fill).toThrow(UnsafePathError);
    expect(fill).toThrow(/"key"/);
  });

  test('of an operation that is added later is refused by the name of its argument', () => {
    const read = createPath({ path: '/trading/history/{symbol}', effect: 'read' });
    const write = createPath({ path: '/alerts/{alertId}/{login}', effect: 'write' });
    expect(sourceOf(() => read({ symbol: '..' }))).toEqual({ argument: 'symbol' });
    expect(sourceOf(() => write({ alertId: '', login: '1' }))).toEqual({
      argument: 'input.alertId',
    });
    expect(sourceOf(() => write({ alertId: 'a', login: '' }))).toBe('token');
  });
});

function sourceOf(fill: () => string): unknown {
  try {
    return fill();
  } catch (error) {
    return (error as UnsafePathError).source;
  }
}

test('nothing is sent for a value that is refused, whichever operation takes it', async () => {
  await using gateway = await startScriptedGateway((socket) => socket.end(answer(200, {})));
  await using open = openClient(gateway.url);
  const { client } = open;
  for (const [, value] of UNSAFE) {
    await expect(client.getAllTickers(anyCaller, value, null)).rejects.toThrow(UnsafePathError);
    await expect(client.getSession(anyCaller, value)).rejects.toThrow(UnsafePathError);
    await expect(client.write(anyCaller, 'setValue', { key: value, value: 1 })).rejects.toThrow(
      UnsafePathError,
    );
    await using odd = openClient(gateway.url, { gatewayMobileWallet: value });
    await expect(odd.client.write(anyCaller, 'addMobileWallet', { phone: '1' })).rejects.toThrow(
      UnsafePathError,
    );
  }
  expect(gateway.connections).toBe(0);
});

test('the path part of the gateway address stands before every path', async () => {
  await using place = await openSandbox({ pathPrefix: '/api/v1' });
  await using open = openClient(`${place.sandbox.url}/`);
  await OPERATION_CASES.getCustomerId.call(open.client, place.caller());
  expect(place.sandbox.requests().map(({ path }) => path)).toEqual([
    '/api/v1/payments/client/customer-id',
  ]);
});
