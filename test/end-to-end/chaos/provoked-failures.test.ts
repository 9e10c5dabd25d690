import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';

const PROXY = { TRUSTED_PROXIES: '127.0.0.1' };
const LOGIN =
  'mutation ($email: String!) { login(input: { email: $email, password: "demo" }) { __typename } }';
const DEVICE = 'mutation { registerDevice(input: { deviceId: "d" }) { __typename } }';
const VALUE = 'mutation { setValue(input: { key: "k", value: 1 }) { __typename } }';

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
const codes = ({ errors }: { errors: readonly { extensions: { code: string } }[] }) =>
  errors.map(({ extensions }) => extensions.code);

/** Twelve requests from three networks, each of which somebody can have. */
async function provoke({ query }: TestApp, document: string, site: (network: number) => string) {
  for (let at = 0; at < 12; at += 1) {
    const variables = { email: `nobody-${at}@example.com` };
    const answer = await query(document, { variables, ...from(site(at % 3)) });
    expect(codes(answer)).toHaveLength(1);
  }
}

async function provedToken({ sandbox, query }: TestApp): Promise<string> {
  const token = sandbox.token({ email: 'demo@example.com' });
  expect(codes(await query('{ session { login } }', { token }))).toEqual([]);
  return token;
}

test('registerDevice that fails for strangers leaves setValue alone, and itself to accounts that call it', async () => {
  await using app = await startTestApp(PROXY);
  const token = await provedToken(app);
  // The gateway's bug meets calls without a token.
  app.sandbox.fail({ operation: 'registerDevice', kind: 'status', status: 500, times: 12 });
  expect(codes(await app.query(VALUE, { token }))).toEqual([]);
  await provoke(app, DEVICE, (network) => `2001:db8:${network}::1`);
  expect(codes(await app.query(VALUE, { token }))).toEqual([]);
  expect(codes(await app.query(DEVICE, { token }))).toEqual([]);
});

test('sign-ins that hang leave payments their connections', async () => {
  // A quarter of the connections is for all but reads and orders.
  await using app = await startTestApp({
    ...PROXY,
    GATEWAY_CONNECTIONS: '16',
    GATEWAY_TIMEOUT_MS: '10000',
  });
  const token = await provedToken(app);
  app.sandbox.fail({ operation: 'login', kind: 'hang' });
  const hanging = Array.from({ length: 20 }, (_, at) =>
    app.query(LOGIN, {
      variables: { email: `nobody-${at}@example.com` },
      ...from(`2001:db8:1:${at}::1`),
    }),
  );
  await eventually(() => app.sandbox.calls('login') > 0);
  const payments = Array.from({ length: 10 }, () =>
    app.query('{ withdrawalMethods { id } customerId }', { token }),
  );
  for (const answer of await Promise.all(payments)) expect(codes(answer)).toEqual([]);
  // They go on hanging meanwhile, as many as may.
  expect(app.sandbox.calls('login')).toBe(2);
  for (const answer of await Promise.all(hanging)) expect(codes(answer)).toHaveLength(1);
});
