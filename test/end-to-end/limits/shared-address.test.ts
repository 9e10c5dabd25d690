import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { inFull } from '../../support/in-full.ts';
import { DEFAULT_LIMITS } from '../../support/limits.ts';
import { stepUntil } from '../../support/steps.ts';
import { CHANGES } from '../live/watcher.ts';

const HOME =
  '{ session { login balance } positions { id } withdrawalMethods { id } customerId instrument(id: "AAPL") { id } }';

const CROWD = inFull(10_000, 180);

const userAt = (at: number) => ({ email: `user-${at + 1}@example.com` });

/** Runs `each` for so many, as many at a time as given. */
async function forMany<T>(count: number, atOnce: number, each: (at: number) => Promise<T>) {
  const results: T[] = [];
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const at = next;
      next += 1;
      results.push(await each(at));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

/** Starts a subscription over an event stream; the first event, or the refusal. */
async function subscribe(app: TestApp, token: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify({ query: CHANGES }),
    signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  let isOver = false;
  const read = async () => {
    const { value = '', done } = (await reader?.read()) ?? { done: true };
    text += value;
    isOver = done || /"(?:errors|cursor)":/.test(text);
  };
  await stepUntil(() => isOver, read, 100);
  return text;
}

test('people behind one address, none of whom is known after a restart, all get their screens, more of them than an address may start operations or try tokens', async () => {
  await using app = await startTestApp({
    RATE_LIMIT_PER_MINUTE: inFull('300', '100'),
  });
  app.sandbox.fail({ operation: 'getSession', kind: 'delay', delayMs: 30 });
  const answers = await forMany(CROWD, 200, (at) =>
    app.query(HOME, { token: app.sandbox.token(userAt(at)) }),
  );
  expect(answers.flatMap(({ errors }) => errors)).toEqual([]);
  expect(new Set(answers.map(({ data }) => data.session.login)).size).toBe(CROWD);
}, 300_000);

test('one account that subscribes by many unproved ways has no more than its limit', async () => {
  const most = 32;
  const subscriptions = { ...DEFAULT_LIMITS.subscriptions, most: { account: most, address: most } };
  await using app = await startTestApp({}, { limits: { subscriptions } });
  const controller = new AbortController();
  const begun = await forMany(most + 8, 40, () =>
    subscribe(app, app.sandbox.token({ email: 'demo@example.com' }), controller.signal),
  );
  const refused = begun.filter((text) => text.includes('"errors"'));
  expect(begun.length - refused.length).toBe(most);
  expect(refused.every((text) => text.includes('"RATE_LIMITED"'))).toBe(true);
  controller.abort();
  // What was refused holds nothing, and what has ended gives its slot back.
  const again = new AbortController();
  const token = app.sandbox.token({ email: 'demo@example.com' });
  await eventually(async () => (await subscribe(app, token, again.signal)).includes('"cursor"'));
  again.abort();
}, 300_000);

test('an account that is at its limit takes what it does by new tokens from its address', async () => {
  await using app = await startTestApp({ RATE_LIMIT_PER_MINUTE: '5' }, { refills: false });
  const ask = (token: string) => app.query('{ session { login } }', { token });
  const demo = () => app.sandbox.token({ email: 'demo@example.com' });
  const statuses = [];
  for (let at = 0; at < 11; at += 1) statuses.push((await ask(demo())).status);
  // Five of the account's, and then five of the address's.
  expect(statuses).toEqual([...Array(10).fill(200), 429]);
});
