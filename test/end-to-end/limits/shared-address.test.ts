import { expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { inFull } from '../../support/in-full.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { DEFAULT_LIMITS } from '../../support/limits.ts';
import { sseClient } from '../live/watcher.ts';
import { codesOf } from './every-transport.ts';

const HOME =
  '{ session { login balance } positions { id } withdrawalMethods { id } customerId instrument(id: "AAPL") { id } }';
const DEMO = { email: 'demo@example.com' };
const CROWD = inFull(10_000, 180);

test('people behind one address, none of whom is known after a restart, all get their screens, more of them than an address may start operations or try tokens', async () => {
  await using app = await startTestApp({ RATE_LIMIT_PER_MINUTE: inFull('300', '100') });
  app.sandbox.fail({ operation: 'getSession', kind: 'delay', delayMs: 30 });
  const answers = await inParallel(CROWD, 200, (at) =>
    app.query(HOME, { token: app.sandbox.token({ email: `user-${at + 1}@example.com` }) }),
  );
  expect(answers.flatMap(({ errors }) => errors)).toEqual([]);
  expect(new Set(answers.map(({ data }) => data.session.login)).size).toBe(CROWD);
}, 300_000);

test('one account that subscribes by many unproved ways has no more than its limit', async () => {
  const most = 32;
  const subscriptions = { ...DEFAULT_LIMITS.subscriptions, most: { account: most, address: most } };
  await using app = await startTestApp({}, { limits: { subscriptions } });
  const subscribe = async () => {
    const client = sseClient(app, app.sandbox.token(DEMO));
    const watcher = client.watch();
    await eventually(() => watcher.last !== undefined || watcher.ended !== null);
    return { client, watcher };
  };
  const begun = await inParallel(most + 8, 40, subscribe);
  const refused = begun.filter(({ watcher }) => watcher.last === undefined);
  expect(begun.length - refused.length).toBe(most);
  for (const { watcher } of refused) expect(codesOf(watcher)).toEqual(['RATE_LIMITED']);
  for (const { client } of begun) client.dispose();
  // What was refused holds nothing, and what has ended gives its slot back.
  await eventually(async () => {
    const { client, watcher } = await subscribe();
    client.dispose();
    return watcher.last !== undefined;
  });
}, 300_000);

test('an account that is at its limit takes what it does by new tokens from its address', async () => {
  await using app = await startTestApp({ RATE_LIMIT_PER_MINUTE: '5' }, { refills: false });
  const statuses = [];
  for (let at = 0; at < 11; at += 1) {
    const { status } = await app.query('{ session { login } }', { token: app.sandbox.token(DEMO) });
    statuses.push(status);
  }
  // Five of the account's, and then five of the address's.
  expect(statuses).toEqual([...Array(10).fill(200), 429]);
});
