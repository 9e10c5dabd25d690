import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, test } from 'vitest';
import { OPERATION_CASES } from '../operations/all.ts';
import { openSandbox } from '../sandbox/sandbox-client.ts';
import { makeCertificate } from '../support/certificate.ts';
import { startTlsFront } from '../support/tls-front.ts';
import { openClient } from './open-client.ts';
import { wordFor } from './word-for.ts';

test('a gateway behind TLS is called where its certificate is trusted, and a further connection resumes the session', async () => {
  await using place = await openSandbox();
  await using files = await makeCertificate();
  await using front = await startTlsFront(files, Number(new URL(place.sandbox.url).port));
  const url = `https://127.0.0.1:${front.port}`;
  const called = async ({ client }: ReturnType<typeof openClient>) => {
    const words = [];
    for (let call = 0; call < 3; call += 1) {
      words.push(await wordFor(OPERATION_CASES.getCustomerId.call(client, place.caller())));
      front.disconnect();
    }
    return words;
  };

  await using distrusting = openClient(url);
  expect(await called(distrusting)).toEqual(['unavailable', 'unavailable', 'unavailable']);
  const known = getCACertificates('default');
  setDefaultCACertificates([...known, readFileSync(files.certificate, 'utf8')]);
  await using trusting = openClient(url);
  // What is trusted now no longer counts: all connections have one context, made with the pools.
  setDefaultCACertificates(known);
  front.resumed.length = 0;
  expect(await called(trusting)).toEqual(['answer', 'answer', 'answer']);
  expect(front.resumed).toEqual([false, true, true]);
});
