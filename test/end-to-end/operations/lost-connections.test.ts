import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { makeSignedCertificates } from '../../support/certificate.ts';
import { freePort } from '../../support/free-ports.ts';
import { readinessOf } from '../../support/readiness.ts';
import { startTlsFront, type TlsFiles } from '../../support/tls-front.ts';
import { provedTokens } from './accounts.ts';
import { lineOf } from './request-lines.ts';
import { seriesValue } from './scraped.ts';

async function detailsOf({ adminUrl }: TestApp): Promise<readonly string[]> {
  const { details = [] } = await readinessOf(adminUrl);
  return details.map(({ code, detail }: { code: string; detail: string }) => `${code}: ${detail}`);
}

/** How many connections of one read were lost by each of these causes. */
async function lostBy(app: TestApp, ...causes: readonly string[]): Promise<number[]> {
  await app.query('{ customerId }', { token: app.sandbox.token({ email: 'demo@example.com' }) });
  const series = causes.map((cause) => `gateway_connections_lost_total{cause="${cause}"}`);
  return Promise.all(series.map((each) => seriesValue(app, each)));
}

/** The service, and a gateway whose certificates are signed by this authority. */
async function startBehind(files: TlsFiles, authority: string) {
  const known = getCACertificates('default');
  setDefaultCACertificates([...known, readFileSync(authority, 'utf8')]);
  const stack = new AsyncDisposableStack();
  stack.defer(() => setDefaultCACertificates(known));
  const gateway = stack.use(await startSandbox({ tickMs: 0, instruments: 10 }));
  const front = stack.use(await startTlsFront(files, gateway.port));
  const url = `https://127.0.0.1:${front.port}`;
  const app = await startTestApp({ GATEWAY_URL: url }, { gateway });
  stack.defer(() => app.close());
  return { app, front, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('a certificate that has expired from the start is named', async () => {
  await using files = await makeSignedCertificates();
  await using place = await startBehind(files.expired, files.authority);
  expect((await lostBy(place.app, 'CERT_HAS_EXPIRED'))[0]).toBeGreaterThan(0);
});

test('a certificate that expires later is named by readiness and a line as the breaker opens', async () => {
  await using files = await makeSignedCertificates();
  await using place = await startBehind(files.valid, files.authority);
  const { app, front } = place;
  const tokens = await provedTokens(app);
  expect(await detailsOf(app)).toEqual([]);
  front.present(files.expired);
  front.disconnect();
  for (let at = 0; at < 12; at += 1) {
    await app.query('{ customerId }', { token: tokens[at % 3] as string });
  }
  const cause = 'CERT_HAS_EXPIRED';
  expect(await lineOf(app, 'circuit breaker')).toMatchObject({
    ...{ circuit: 'payments', state: 'open', cause },
    tried: `127.0.0.1:${front.port}`,
  });
  expect(await detailsOf(app)).toEqual([`gateway: gateway failing: payments (${cause})`]);
});

test('a name that does not resolve is named', async () => {
  await using gateway = await startSandbox({ tickMs: 0, instruments: 10 });
  await using app = await startTestApp({ GATEWAY_URL: 'http://gateway.invalid' }, { gateway });
  expect(Math.max(...(await lostBy(app, 'ENOTFOUND', 'EAI_AGAIN')))).toBeGreaterThan(0);
});

test('a port at which nothing listens is named', async () => {
  await using gateway = await startSandbox({ tickMs: 0, instruments: 10 });
  const url = `http://127.0.0.1:${await freePort()}`;
  await using app = await startTestApp({ GATEWAY_URL: url }, { gateway });
  expect((await lostBy(app, 'ECONNREFUSED'))[0]).toBeGreaterThan(0);
});

test('a connection that breaks under a call is named', async () => {
  await using app = await startTestApp();
  app.sandbox.fail({ operation: 'getCustomerId', kind: 'reset-before', times: 3 });
  expect(await lostBy(app, 'ECONNRESET')).toEqual([3]);
});
