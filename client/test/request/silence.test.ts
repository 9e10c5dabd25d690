import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { listenLocally } from '../../../test/support/local-server.ts';
import { browserEnvironment } from '../../src/browser-environment.ts';
import { exchange } from '../../src/request/exchange.ts';

const ANSWER = '{"data":{"name":"Müller"}}';
const SILENCE_MS = 400;

/** Asks a server that answers as it is told. */
async function ask(answer: (response: ServerResponse) => Promise<void>) {
  await using server = await listenLocally(
    createServer((_request, response) => void answer(response)),
  );
  return await exchange(browserEnvironment(), {
    url: server.url,
    document: { query: '{ name }' },
    variables: undefined,
    token: null,
    method: 'POST',
    timeoutMs: SILENCE_MS,
    signal: new AbortController().signal,
  });
}

test('an answer that flows is not cut, however long it takes', async () => {
  const result = await ask(async (response) => {
    response.setHeader('content-type', 'application/json');
    // Byte by byte, so that a letter of two comes in two pieces.
    for (const byte of Buffer.from(ANSWER)) {
      response.write(Buffer.of(byte));
      await delay(SILENCE_MS / 8);
    }
    response.end();
  });
  expect(result).toEqual({ data: { name: 'Müller' }, errors: [] });
});

test.each([
  ['before it begins', 0],
  ['in the middle', 10],
])('an answer that stalls %s is given up', async (_name, bytes) => {
  const result = await ask(async (response) => {
    response.setHeader('content-type', 'application/json');
    if (bytes > 0) response.write(ANSWER.slice(0, bytes));
  });
  expect(result.errors).toMatchObject([{ code: 'NETWORK', message: 'No answer came in time.' }]);
});
