import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { startHeldGateway } from '../../support/held-gateway.ts';
import { initializedSocket } from '../live/raw-socket.ts';
import { provedToken } from '../operations/accounts.ts';

async function openHeld() {
  const sandbox = await startSandbox();
  const held = await startHeldGateway(sandbox);
  const app = await startTestApp({ GATEWAY_URL: held.url }, { gateway: sandbox });
  const stack = new AsyncDisposableStack();
  for (const each of [sandbox, held, app]) stack.use(each);
  const token = await provedToken(app);
  app.sandbox.clearCalls();
  return { app, held, token, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('thirty equal concurrent screens of one token share their reads', async () => {
  await using world = await openHeld();
  const { app, held, token } = world;
  held.hold(/customer-id|positions/);
  using raw = await initializedSocket(app, token);
  const ids = Array.from({ length: 30 }, (_, at) => `screen ${at}`);
  for (const id of ids) raw.subscribe(id, '{ customerId positions { id } session { balance } }');
  raw.subscribe('last', '{ __typename }');
  await raw.until('last', 'complete');
  await eventually(() => expect(held.waiting).toBeGreaterThanOrEqual(2));
  held.release();
  const answers = await Promise.all(ids.map((id) => raw.until(id, 'next')));
  expect(answers.flatMap(({ payload }) => payload.errors ?? [])).toEqual([]);
  expect(new Set(answers.map(({ payload }) => JSON.stringify(payload.data))).size).toBe(1);
  expect(app.sandbox.calls('getCustomerId')).toBeLessThanOrEqual(2);
  expect(app.sandbox.calls('getOpenPositions')).toBeLessThanOrEqual(3);
});

test('a read after a write joins no earlier call, but another account’s write has no effect', async () => {
  await using world = await openHeld();
  const { app, held, token } = world;
  const methods = () => app.query('{ withdrawalMethods { id } }', { token });
  held.hold(/withdrawal-methods/);
  const early = methods();
  await eventually(() => expect(held.waiting).toBe(1));
  const stranger = await provedToken(app, 'pro@example.com');
  const add = (by: string) =>
    app.query('mutation { addCryptoWallet(input: { address: "a" }) { __typename } }', {
      token: by,
    });
  await add(stranger);
  const joined = methods();
  await app.query('{ session(maxAge: 0) { login } }', { token });
  expect(held.waiting).toBe(1);
  await add(token);
  const late = methods();
  await eventually(() => expect(held.waiting).toBe(2));
  held.release();
  const answers = await Promise.all([early, joined, late]);
  expect(answers.map(({ data }) => data.withdrawalMethods.length)).toEqual([
    expect.any(Number),
    expect.any(Number),
    expect.any(Number),
  ]);
});

test('a read after a write without a user joins no earlier call', async () => {
  await using world = await openHeld();
  const { app, held, token } = world;
  held.hold(/withdrawal-methods/);
  const early = app.query('{ withdrawalMethods { id } }', { token });
  await eventually(() => expect(held.waiting).toBe(1));
  // The write belongs to no account, so it makes no call outdated. Only the mutation knows that this read comes later.
  const document = `mutation { forgotPassword(input: { email: "demo@example.com" }) {
    ... on Acknowledged { withdrawalMethods { id } } } }`;
  const late = app.query(document, { token });
  await eventually(() => expect(held.waiting).toBe(2));
  held.release();
  const [before, after] = await Promise.all([early, late]);
  expect(after.errors).toEqual([]);
  expect(after.data.forgotPassword).toEqual(before.data);
});

test('a session with maxAge 0 joins no earlier call', async () => {
  await using world = await openHeld();
  const { app, held, token } = world;
  held.hold(/session/);
  const session = () => app.query('{ session(maxAge: 0) { login } }', { token });
  const early = session();
  await eventually(() => expect(held.waiting).toBe(1));
  const late = session();
  await eventually(() => expect(held.waiting).toBe(2));
  held.release();
  const answers = await Promise.all([early, late]);
  expect(answers.map(({ data }) => data.session.login)).toEqual(['700001', '700001']);
});
