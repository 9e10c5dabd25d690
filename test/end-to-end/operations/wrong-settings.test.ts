import { describe, expect, test } from 'vitest';
import type { Environment } from '../../../src/config.ts';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { answer, startScriptedGateway } from '../../support/scripted-gateway.ts';
import { signedToken, unsignedToken } from '../../support/tokens.ts';
import { linesOf } from './request-lines.ts';
import { seriesValue } from './scraped.ts';

const EMAILS = ['demo@example.com', 'pro@example.com', 'fresh@example.com'];

async function readinessOf(url: string) {
  return (await fetch(`${url}/health/ready`)).json();
}

/** Readiness, the admin port and the log name the settings; the public port names none. */
async function expectSuspected(app: TestApp, ...settings: string[]): Promise<void> {
  await eventually(async () => {
    expect(await readinessOf(app.url)).toEqual({ status: 'degraded', reasons: ['settings'] });
  });
  const { details } = await readinessOf(app.adminUrl);
  expect(details).toEqual([
    { code: 'settings', detail: expect.stringMatching(new RegExp(`^${settings.join(', ')}: `)) },
  ]);
  const lines = linesOf(app, 'a setting looks wrong');
  expect(lines).toMatchObject([{ level: 'warn', settings, detail: expect.any(String) }]);
  expect(await seriesValue(app, 'degraded{reason="settings"}')).toBe(1);
}

async function expectFine(app: TestApp): Promise<void> {
  expect(await readinessOf(app.url)).toEqual({ status: 'ok' });
  expect(linesOf(app, 'a setting looks wrong')).toEqual([]);
}

async function ask(app: TestApp, times: number, document = '{ customerId }'): Promise<void> {
  for (let at = 0; at < times; at += 1) {
    const email = EMAILS[at % EMAILS.length] as string;
    await app.query(document, { token: app.sandbox.token({ email }) });
  }
}

async function startWith(environment: Environment, options = {}) {
  const sandbox = await startSandbox({ tickMs: 0, instruments: 10, ...options });
  const app = await startTestApp(environment, { gateway: sandbox });
  return {
    app,
    sandbox,
    async [Symbol.asyncDispose]() {
      await app.close();
      await sandbox.close();
    },
  };
}

describe('GATEWAY_URL', () => {
  test('with another path is seen by its answers', async () => {
    await using sandbox = await startSandbox({ tickMs: 0, instruments: 10 });
    await using app = await startTestApp(
      { GATEWAY_URL: `${sandbox.url}/elsewhere` },
      { gateway: sandbox },
    );
    await ask(app, 4);
    await expectFine(app);
    await ask(app, 1);
    await expectSuspected(app, 'GATEWAY_URL');
  });

  test('of some other service is seen by its answers', async () => {
    await using page = await startScriptedGateway((socket) =>
      socket.write(answer(200, '<html></html>', { 'content-type': 'text/html' })),
    );
    await using started = await startWith({ GATEWAY_URL: page.url });
    await ask(started.app, 5);
    await expectSuspected(started.app, 'GATEWAY_URL');
  });

  test('that cannot be resolved is seen at the start', async () => {
    await using started = await startWith({ GATEWAY_URL: 'http://gateway.invalid' });
    await expectSuspected(started.app, 'GATEWAY_URL');
  });

  test('at which nothing listens is seen at the start, and until something does', async () => {
    await using first = await startSandbox({ tickMs: 0, instruments: 10 });
    const { port, url } = first;
    await first.close();
    await using started = await startWith({ GATEWAY_URL: url });
    await expectSuspected(started.app, 'GATEWAY_URL');
    await using _back = await startSandbox({ tickMs: 0, instruments: 10, port });
    await eventually(async () => {
      await ask(started.app, 1);
      await expect(readinessOf(started.app.url)).resolves.toEqual({ status: 'ok' });
    });
    expect(linesOf(started.app, 'a setting looks right again')).toHaveLength(1);
  });
});

test('a gateway that answers 429 to everything is seen, and when it no longer does', async () => {
  await using app = await startTestApp();
  app.sandbox.fail({ operation: '*', kind: 'status', status: 429 });
  await ask(app, 10);
  await expectSuspected(app, 'GATEWAY_HEADERS', 'GATEWAY_POLLS_PER_SECOND');
  app.sandbox.clearFaults();
  await ask(app, 1);
  expect(await readinessOf(app.url)).toEqual({ status: 'ok' });
  expect(linesOf(app, 'a setting looks right again')).toHaveLength(1);
});

describe('claims and keys', () => {
  test('a wrong name of the login’s claim is seen', async () => {
    await using started = await startWith({ GATEWAY_LOGIN_CLAIM: 'trading_login' });
    await ask(started.app, 5);
    await expectSuspected(started.app, 'GATEWAY_LOGIN_CLAIM');
  });

  test('a wrong key is seen', async () => {
    await using started = await startWith({
      JWT_SECRET: 'that of another installation, not of this',
    });
    await ask(started.app, 5);
    await expectSuspected(started.app, 'JWT_JWKS_URL', 'JWT_SECRET', 'JWT_ISSUER', 'JWT_AUDIENCE');
  });

  test('a gateway of other users is seen', async () => {
    await using started = await startWith({});
    const exp = Math.floor(Date.now() / 1000) + 600;
    for (let login = 1; login <= 5; login += 1) {
      const token = signedToken({ claims: { login, group: 'g', exp }, secret: 'elsewhere' });
      await started.app.query('{ customerId }', { token });
    }
    await expectSuspected(started.app, 'GATEWAY_URL', 'GATEWAY_HEADERS');
    // The first accepted token ends it.
    await ask(started.app, 1);
    expect(await readinessOf(started.app.url)).toEqual({ status: 'ok' });
  });

  test('a wrong name of the group’s claim is seen', async () => {
    await using app = await startTestApp();
    app.sandbox.fail({ operation: 'getAllTickers', kind: 'status', status: 403 });
    await ask(app, 5, '{ catalog { version } }');
    await expectSuspected(app, 'GATEWAY_GROUP_CLAIM');
  });
});

test('forged tokens alone never degrade a process that has seen one accepted', async () => {
  await using app = await startTestApp();
  await ask(app, 1, '{ session { balance } }');
  const exp = Math.floor(Date.now() / 1000) + 600;
  for (let login = 1; login <= 30; login += 1) {
    const forged = unsignedToken({ login, group: 'standard-usd', exp });
    await app.query('{ customerId catalog { version } }', { token: forged });
    await app.query('{ customerId }', { token: unsignedToken({ sub: String(login), exp }) });
    await app.query('{ customerId }', { token: 'nonsense' });
  }
  await expectFine(app);
});

test('ordinary failures of a gateway are no sign of a wrong setting', async () => {
  await using app = await startTestApp();
  await ask(app, 1);
  app.sandbox.fail({ operation: 'getCustomerId', kind: 'garbage', times: 8 });
  app.sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 429, times: 12 });
  await ask(app, 12);
  app.sandbox.clearFaults();
  await ask(app, 1);
  await expectFine(app);
});
