import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { startHeldGateway } from '../../support/held-gateway.ts';
import { provedToken } from '../operations/accounts.ts';

/** Starts the service with a gateway whose answers a test can hold back. */
async function startHeld() {
  const sandbox = await startSandbox();
  const held = await startHeldGateway(sandbox);
  const app = await startTestApp({ GATEWAY_URL: held.url }, { gateway: sandbox });
  const stack = new AsyncDisposableStack();
  for (const part of [sandbox, held, app]) stack.use(part);
  const token = await provedToken(app);
  app.sandbox.clearCalls();
  return { app, held, token, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('a read joins an earlier call only if its own account has not written in between', async () => {
  await using service = await startHeld();
  const { app, held, token } = service;
  const methods = () => app.query('{ withdrawalMethods { id } }', { token });
  held.hold('getWithdrawalMethods');
  const early = methods();
  await eventually(() => expect(held.waiting).toBe(1));
  const otherAccount = await provedToken(app, 'pro@example.com');
  const write = 'mutation { addCryptoWallet(input: { address: "a" }) { __typename } }';
  await app.query(write, { token: otherAccount });
  const joined = methods();
  await app.query('{ session(maxAge: 0) { login } }', { token });
  expect(held.waiting).toBe(1);
  await app.query(write, { token });
  const late = methods();
  await eventually(() => expect(held.waiting).toBe(2));
  held.release();
  for (const { data } of await Promise.all([early, joined, late])) {
    expect(data.withdrawalMethods.length).toBeGreaterThan(0);
  }
});

test('a session with maxAge 0 joins no earlier call', async () => {
  await using service = await startHeld();
  const { app, held, token } = service;
  held.hold('getSession');
  const session = () => app.query('{ session(maxAge: 0) { login } }', { token });
  const early = session();
  await eventually(() => expect(held.waiting).toBe(1));
  const late = session();
  await eventually(() => expect(held.waiting).toBe(2));
  held.release();
  const answers = await Promise.all([early, late]);
  expect(answers.map(({ data }) => data.session.login)).toEqual(['700001', '700001']);
});
