import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { useSignedInApp } from '../../support/signed-in-app.ts';

const screen = useSignedInApp();

describe('a query', () => {
  test('makes each read at most once, whatever it repeats', async () => {
    const more = Array.from(
      { length: 5 },
      (_, i) =>
        `s${i}: session { login } p${i}: positions { id instrument { positions { id } orders { id } } }
        c${i}: customerId w${i}: withdrawalMethods { id } i${i}: instrument(id: "AAPL") { id }`,
    ).join('\n');
    await screen.read(
      `{ ${more} orders { id } position(id: "1") { id } order(id: "1") { id } catalog { id } }`,
    );
    expect(screen.app.sandbox.callCounts().operations).toEqual({
      getSession: 1,
      getOpenPositions: 1,
      getCustomerId: 1,
      getWithdrawalMethods: 1,
      ...(screen.calls('getAllTickers') > 0 && { getAllTickers: 1 }),
    });
  });

  test('makes its reads concurrently', async () => {
    const clock = createScriptedClock(Date.now());
    await using gateway = await startSandbox({ clock, tickMs: 0 });
    await using app = await startTestApp({}, { gateway });
    gateway.fail({ operation: '*', kind: 'delay', delayMs: 1_000 });
    const token = gateway.token({ email: 'demo@example.com' });
    const text = '{ session { login } positions { id } withdrawalMethods { id } customerId }';
    const answer = app.query(text, { token });
    // The last is sent before the first is answered.
    await eventually(() => gateway.requests().length === 4);
    await clock.advance(1_000);
    expect((await answer).errors).toEqual([]);
  });
});

test('a mutation answers a login even where its reads fail', async () => {
  screen.app.sandbox.fail({ operation: 'getSession', kind: 'status', status: 403 });
  const { data, errors } = await screen.app.query(
    `mutation { login(input: { email: "demo@example.com", password: "demo" }) {
      ... on LoginSuccess { accessToken session { login } }
    } }`,
  );
  expect(data.login).toEqual({ accessToken: expect.any(String), session: null });
  expect(errors).toMatchObject([
    { path: ['login', 'session'], extensions: { code: 'FORBIDDEN', operation: 'getSession' } },
  ]);
});
