import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, test, vi } from 'vitest';
import { CUSTOMER_ID } from '../../src/gateway/operations/get-customer-id.ts';
import { OPERATIONS } from '../../src/gateway/operations.ts';
import { OPERATION_CASES } from '../operations/cases.ts';
import { openSandbox } from '../sandbox/sandbox-client.ts';
import { accepted } from '../support/ask-gateway.ts';
import { TEST_CERTIFICATE } from '../support/certificate.ts';
import { eventually } from '../support/eventually.ts';
import { listenLocally } from '../support/local-server.ts';
import { answer, startScriptedGateway } from '../support/scripted-gateway.ts';
import { startTlsFront } from '../support/tls-front.ts';
import { anyCaller, marketOrder, openClient, wordFor } from './open-client.ts';

/** A connection that is older takes no new call. */
const OLDEST_MS = 10_000;

/** Sets the date forward, because undici measures a connection's age by the date. */
function letTimePass(ms: number): void {
  const date = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => date() + ms);
}

test('reads and orders follow the gateway’s name to a new address', async () => {
  const calls: string[] = [];
  await using gateway = await listenLocally(
    createServer(({ method, socket }, response) => {
      calls.push(`${method} ${socket.localAddress}`);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ ...accepted(), ...CUSTOMER_ID.toWire({ customerId: '1' }) }));
    }),
    '0.0.0.0',
  );
  let address = '127.0.0.1';
  type Done = (error: null, all: readonly dns.LookupAddress[]) => void;
  const lookup = (_name: string, _options: object, done: Done) =>
    done(null, [{ address, family: 4 }]);
  vi.spyOn(dns, 'lookup').mockImplementation(lookup as unknown as typeof dns.lookup);
  await using open = openClient(`http://gateway.test:${gateway.port}`);
  const callBoth = async () => {
    await open.client.read(anyCaller, OPERATIONS.getCustomerId);
    await open.client.order(anyCaller, OPERATIONS.openPosition, marketOrder);
  };
  await callBoth();
  address = '127.0.0.2';
  letTimePass(OLDEST_MS + 1);
  await callBoth();
  expect(calls).toEqual(['GET 127.0.0.1', 'POST 127.0.0.1', 'GET 127.0.0.2', 'POST 127.0.0.2']);
});

test('an old connection takes no new call, and is closed only after its running call', async () => {
  const answers: (() => void)[] = [];
  await using gateway = await startScriptedGateway((socket) => {
    answers.push(() => socket.write(answer(200, CUSTOMER_ID.toWire({ customerId: '1' }))));
  });
  await using open = openClient(gateway.url);
  const first = open.client.read(anyCaller, OPERATIONS.getCustomerId);
  await eventually(() => expect(answers).toHaveLength(1));
  letTimePass(OLDEST_MS + 1);
  const second = open.client.read(anyCaller, OPERATIONS.getCustomerId);
  await eventually(() => expect(answers).toHaveLength(2));
  answers[1]?.();
  answers[0]?.();
  expect(await Promise.all([first, second])).toEqual(['1', '1']);
  await eventually(() => expect(gateway.openConnections).toBe(1));
});

test('a gateway with a trusted certificate is called, and later connections resume its TLS session', async () => {
  await using place = await openSandbox();
  await using front = await startTlsFront(Number(new URL(place.sandbox.url).port));
  const url = `https://127.0.0.1:${front.port}`;
  /** Makes three calls, each on a new connection, and returns their outcomes. */
  const callThrice = async ({ client }: ReturnType<typeof openClient>) => {
    const words = [];
    for (let call = 0; call < 3; call += 1) {
      words.push(await wordFor(OPERATION_CASES.getCustomerId.call(client, place.caller())));
      front.disconnect();
    }
    return words;
  };

  await using distrusting = openClient(url);
  expect(await callThrice(distrusting)).toEqual(['unavailable', 'unavailable', 'unavailable']);
  const known = getCACertificates('default');
  setDefaultCACertificates([...known, readFileSync(TEST_CERTIFICATE, 'utf8')]);
  await using trusting = openClient(url);
  // `trusting` keeps the certificates that were trusted when it was opened, so this change has no effect on it.
  setDefaultCACertificates(known);
  front.resumed.length = 0;
  expect(await callThrice(trusting)).toEqual(['answer', 'answer', 'answer']);
  expect(front.resumed[0]).toBe(false);
  // undici refers to a session weakly, so a garbage collection between two connections may remove it.
  await eventually(async () => {
    front.resumed.length = 0;
    expect(await callThrice(trusting)).toEqual(['answer', 'answer', 'answer']);
    expect(front.resumed).toEqual([true, true, true]);
  });
});
