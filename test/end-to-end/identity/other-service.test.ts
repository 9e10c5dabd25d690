import { expect, test } from 'vitest';
import type { AccountProof } from '../../../src/domain/auth/proof.ts';
import { accountRead, accountWrite, write } from '../../../src/gateway/define-operation.ts';
import * as f from '../../../src/gateway/fields.ts';
import type { CallValues } from '../../../src/gateway/requests.ts';
import { LOGIN } from '../../../src/lib/account.ts';
import type { Context } from '../../../src/schema/context.ts';
import { openClient } from '../../gateway/open-client.ts';
import { startTestApp } from '../../support/app.ts';
import { extendedSchema } from '../../support/extended-schema.ts';
import { answer, startScriptedGateway } from '../../support/scripted-gateway.ts';
import { inSeconds, unsignedToken } from '../../support/tokens.ts';

const ALERTS = f.table('Alerts', { owner: f.vital(f.text) });
const COMMON = { area: 'rest', number: 16 } as const;

const getAlerts = accountRead({
  ...COMMON,
  name: 'getAlerts',
  calls: { list: { method: 'GET', path: '/alerts/{account}', answer: ALERTS.shape } },
  runFor: async (calls, account) =>
    calls.read(await calls.send('list', { path: { account } }), ALERTS),
});

const changeAlert = accountWrite({
  ...COMMON,
  name: 'changeAlert',
  calls: { change: { method: 'PUT', path: '/alerts/{account}', answer: { kind: 'any' } } },
  runFor: (calls, account, body: { readonly price: number }) =>
    calls.acknowledged('change', { path: { account }, body }),
});

/** A mutation as one may write it: it asks for no sign-in, and takes the account as an input. */
const forgetAlerts = write({
  ...COMMON,
  name: 'forgetAlerts',
  isAnonymous: true,
  calls: { forget: { method: 'DELETE', path: '/alerts/{account}', answer: { kind: 'any' } } },
  run: (calls, { account }: { readonly account: string }) =>
    calls.acknowledged('forget', { path: { account } }),
});

/** Starts the service with fields of another service that has alerts by account, and knows no token. */
async function startWithAlerts(status = 200, body?: unknown) {
  const started = new AsyncDisposableStack();
  const alerts = started.use(
    await startScriptedGateway((socket, { path }) =>
      socket.write(answer(status, body ?? { success: true, owner: path.split('/').at(-1) })),
    ),
  );
  const { client } = started.use(openClient(alerts.url));
  const owner = async ({ scope }: Context) => {
    const read = await scope.once('alerts', null, async () =>
      client.readFor(await scope.account(), scope.caller, getAlerts),
    );
    return read.owner;
  };
  const change = (context: Context) =>
    context.writeFor('changeAlert', async (account, caller) => {
      const { outcome } = await client.writeFor(account, caller, changeAlert, { price: 1 });
      return outcome;
    });
  let first: AccountProof | null = null;
  /** A read as nobody should write it: for all requests by the proof of the first. */
  const firstOwner = async ({ scope }: Context) => {
    first ??= await scope.account();
    return (await client.readFor(first, scope.caller, getAlerts)).owner;
  };
  const fields = { alertsText: owner, changeText: change, firstText: firstOwner };
  const schema = extendedSchema(['Query', 'Mutation'], fields);
  const app = started.use(await startTestApp({}, { schema }));
  return { alerts, app, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

const READ = '{ a: alertsText b: alertsText }';
const CHANGE = 'mutation { changeText }';

test('a call to another service about an account carries the login that the gateway has proved, and no token', async () => {
  await using service = await startWithAlerts();
  const { alerts, app } = service;
  const token = await app.signIn();
  expect(await app.query(READ, { token })).toMatchObject({ data: { a: '700001', b: '700001' } });
  app.sandbox.clearCalls();
  for (let time = 0; time < 2; time += 1) {
    expect(await app.query(CHANGE, { token })).toMatchObject({
      data: { changeText: 'acknowledged' },
    });
  }
  // Each write has a proof of its own.
  expect(app.sandbox.calls('getSession')).toBe(2);
  expect(alerts.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /alerts/700001',
    'PUT /alerts/700001',
    'PUT /alerts/700001',
  ]);
  expect(alerts.requests.flatMap(({ headers }) => headers.authorization ?? [])).toEqual([]);
});

test.each([
  ['unsigned', {}],
  ['revoked since', {}],
  ['unsigned while op 10 is down', {}],
])('a token that is %s changes and reads nothing of the account that it names', async (what) => {
  await using service = await startWithAlerts();
  const { alerts, app } = service;
  const claims = { login: 700001, group: 'standard-usd', exp: inSeconds(60) };
  const token = what.startsWith('unsigned') ? unsignedToken(claims) : await app.signIn();
  if (what === 'revoked since') {
    // The proof of this token is in memory.
    await app.query(READ, { token });
    app.sandbox.revoke({ token });
  }
  if (what.endsWith('down'))
    app.sandbox.fail({ operation: 'getSession', kind: 'status', status: 503 });
  const before = alerts.requests.length;
  const { data, errors } = await app.query(CHANGE, { token });
  expect(data.changeText).toBeNull();
  const code = what.endsWith('down') ? 'GATEWAY_UNAVAILABLE' : 'UNAUTHENTICATED';
  expect(errors[0]?.extensions.code).toBe(code);
  expect((await app.query(READ, { token })).data).toEqual({ a: null, b: null });
  expect(alerts.requests).toHaveLength(before);
});

test.each([401, 403])(
  'if another service refuses our credentials by %i, the user stays signed in',
  async (status) => {
    await using service = await startWithAlerts(status);
    const { app } = service;
    const token = await app.signIn();
    for (const document of [READ, CHANGE]) {
      const { errors } = await app.query(document, { token });
      expect(errors[0]?.extensions).toMatchObject({ code: 'GATEWAY_UNAVAILABLE' });
      expect(errors[0]?.extensions.gatewayError).toBeUndefined();
    }
  },
);

test.each([
  [204, '', 'acknowledged'],
  [201, { id: '7' }, 'acknowledged'],
  [200, { success: false, error: 'FULL' }, 'rejected'],
  [409, { error: 'FULL' }, 'rejected'],
  [500, { error: 'FULL' }, null],
])('a write that another service answers by %i %j is %s', async (status, body, outcome) => {
  await using service = await startWithAlerts(status, body);
  const { app } = service;
  const { data, errors } = await app.query(CHANGE, { token: await app.signIn() });
  expect(data.changeText).toBe(outcome);
  expect(errors.map(({ extensions }) => extensions.code)).toEqual(
    outcome === null ? ['OUTCOME_UNKNOWN'] : [],
  );
});

test('a proof that another request has left behind reads nothing', async () => {
  await using service = await startWithAlerts();
  const { alerts, app } = service;
  const [demo, pro] = [await app.signIn(), await app.signIn('pro@example.com')];
  const ask = (token: string) => app.query('{ firstText }', { token });
  expect((await ask(demo)).data).toEqual({ firstText: '700001' });
  expect((await ask(pro)).errors).toMatchObject([{ extensions: { code: 'INTERNAL' } }]);
  expect((await ask(demo)).data).toEqual({ firstText: '700001' });
  expect(alerts.requests).toHaveLength(2);
});

/** Is compiled and never called: each call has one wrong argument. */
async function claimsInTheirPlace({ scope }: Context) {
  await using open = openClient('http://alerts');
  const { client } = open;
  const viewer = await scope.viewer();
  const proof = await scope.account();
  const { token } = scope.caller;
  // @ts-expect-error A resolver has no name for a claimed login.
  await client.write(scope.caller, forgetAlerts, { account: String(viewer.login) });
  // @ts-expect-error Nor for the account.
  await client.write(scope.caller, forgetAlerts, { account: String(viewer.account) });
  // @ts-expect-error Nor for the login of a proof, which may be older than this request.
  await client.write(scope.caller, forgetAlerts, { account: String(proof.login) });
  // @ts-expect-error Nor for the text of a token, which has the claims.
  await client.write(scope.caller, forgetAlerts, { account: String(token?.text) });
  // @ts-expect-error A login is no text.
  await client.write(scope.caller, forgetAlerts, { account: viewer[LOGIN] });
  // @ts-expect-error Nor is it a part of a text.
  await client.write(scope.caller, forgetAlerts, { account: `${viewer[LOGIN]}` });
  // @ts-expect-error A viewer is no proof.
  await client.readFor(viewer, scope.caller, getAlerts);
  // @ts-expect-error An object of the same shape is no proof.
  await client.readFor({ [LOGIN]: viewer[LOGIN] }, scope.caller, getAlerts);
  // @ts-expect-error Nor is a proof with another login.
  await client.readFor({ ...proof, [LOGIN]: viewer[LOGIN] }, scope.caller, getAlerts);
  const fresh = await scope.accountNow();
  // @ts-expect-error Nor is one of this very request.
  await client.readFor({ ...fresh, [LOGIN]: viewer[LOGIN] }, scope.caller, getAlerts);
  // @ts-expect-error A login is no part of a body.
  const inBody: CallValues = { body: { account: viewer[LOGIN] } };
  // @ts-expect-error For a write the proof is of this very request.
  await client.writeFor(proof, scope.caller, changeAlert, { price: 1 });
  // @ts-expect-error An operation of an account is not called without its proof.
  await client.write(scope.caller, changeAlert, { price: 1 });
  await client.readFor(proof, scope.caller, getAlerts);
  await client.writeFor(fresh, scope.caller, changeAlert, { price: 1 });
  return inBody;
}

test('a claim in the place of a proof does not compile', () => {
  expect(claimsInTheirPlace).toBeTypeOf('function');
});

test('no text of what a resolver has contains a claim', async () => {
  const texts = async ({ scope }: Context) => {
    const { token } = scope.caller;
    const all = [token, await scope.viewer(), await scope.account(), await scope.accountNow()];
    return JSON.stringify(all) + all.flatMap((each) => Object.values(each ?? {})).join();
  };
  const schema = extendedSchema(['Query'], { texts });
  await using app = await startTestApp({}, { schema });
  const token = await app.signIn();
  const { data } = await app.query('{ texts }', { token });
  expect(data.texts).toContain('standard-usd');
  expect(data.texts).not.toMatch(/700001|eyJ/);
});
