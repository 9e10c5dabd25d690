import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { makeSignedCertificates } from '../../support/certificate.ts';
import { freePort } from '../../support/free-ports.ts';
import { startTlsFront, type TlsFiles } from '../../support/tls-front.ts';
import { lineOf } from './request-lines.ts';
import { seriesValue } from './scraped.ts';

const EMAILS = ['demo@example.com', 'pro@example.com', 'fresh@example.com'];

async function detailsOf({ adminUrl }: TestApp): Promise<readonly string[]> {
  const { details = [] } = await (await fetch(`${adminUrl}/health/ready`)).json();
  return details.map(({ code, detail }: { code: string; detail: string }) => `${code}: ${detail}`);
}

function tokensOf({ sandbox }: TestApp): string[] {
  return EMAILS.map((email) => sandbox.token({ email }));
}

async function ask(app: TestApp, times = 1, tokens = tokensOf(app)): Promise<void> {
  for (let at = 0; at < times; at += 1) {
    await app.query('{ customerId }', { token: tokens[at % tokens.length] as string });
  }
}

async function expectCause(app: TestApp, cause: string): Promise<void> {
  await ask(app);
  const lost = await seriesValue(app, `gateway_connections_lost_total{cause="${cause}"}`);
  expect(lost).toBeGreaterThan(0);
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
  await expectCause(place.app, 'CERT_HAS_EXPIRED');
});

test('a certificate that expires later is named by readiness and a line as the breaker opens', async () => {
  await using files = await makeSignedCertificates();
  await using place = await startBehind(files.valid, files.authority);
  const { app, front } = place;
  const tokens = tokensOf(app);
  for (const token of tokens) await app.query('{ session { login } customerId }', { token });
  expect(await detailsOf(app)).toEqual([]);
  front.present(files.expired);
  front.disconnect();
  await ask(app, 12, tokens);
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
  await ask(app);
  const lost = (cause: string) =>
    seriesValue(app, `gateway_connections_lost_total{cause="${cause}"}`);
  expect((await lost('ENOTFOUND')) + (await lost('EAI_AGAIN'))).toBeGreaterThan(0);
});

test('a port at which nothing listens is named', async () => {
  await using gateway = await startSandbox({ tickMs: 0, instruments: 10 });
  const url = `http://127.0.0.1:${await freePort()}`;
  await using app = await startTestApp({ GATEWAY_URL: url }, { gateway });
  await expectCause(app, 'ECONNREFUSED');
});

test('a connection that breaks under a call is named', async () => {
  await using app = await startTestApp();
  app.sandbox.fail({ operation: 'getCustomerId', kind: 'reset-before', times: 3 });
  await ask(app);
  const lost = await seriesValue(app, 'gateway_connections_lost_total{cause="ECONNRESET"}');
  expect(lost).toBe(3);
});
