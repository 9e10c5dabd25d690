import { createServer, type ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { listenLocally } from '../../../test/support/local-server.ts';
import { browserEnvironment } from '../../src/browser-environment.ts';
import { exchange } from '../../src/request/exchange.ts';
import { fakeClient } from '../../src/testing.ts';

const ANSWER = '{"data":{"name":"Müller"}}';

/** Asks a server with a scripted answer. */
async function ask(timeoutMs: number, answer: (response: ServerResponse) => Promise<void>) {
  await using server = await listenLocally(
    createServer((_request, response) => void answer(response)),
  );
  return await exchange(browserEnvironment(), {
    url: server.url,
    document: { query: '{ name }' },
    variables: undefined,
    token: null,
    method: 'POST',
    timeoutMs,
    signal: new AbortController().signal,
    onDate() {},
  });
}

test('an answer is not aborted while its data keeps arriving, however long it takes', async () => {
  const { client, market } = fakeClient();
  const query = client.query('{ name }', undefined, { timeoutMs: 30_000 });
  await market.pass(0);
  const body = market.waiting[0]?.stream('application/json');
  for (const letter of ANSWER) {
    body?.write(letter);
    await market.pass(20);
  }
  body?.end();
  expect(await query).toEqual({ data: { name: 'Müller' }, errors: [] });
  client.dispose();
});

test('a letter whose bytes arrive in two pieces is decoded', async () => {
  const result = await ask(30_000, async (response) => {
    response.setHeader('content-type', 'application/json');
    for (const byte of Buffer.from(ANSWER)) {
      response.write(Buffer.of(byte));
      await setImmediate();
    }
    response.end();
  });
  expect(result).toEqual({ data: { name: 'Müller' }, errors: [] });
});

test('an answer that stalls in the middle is given up', async () => {
  const result = await ask(400, async (response) => {
    response.setHeader('content-type', 'application/json');
    response.write(ANSWER.slice(0, 10));
  });
  expect(result.errors).toMatchObject([{ code: 'NETWORK', message: 'No answer came in time.' }]);
});
