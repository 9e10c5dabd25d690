import { expect, onTestFinished, test } from 'vitest';
import { createScriptedClock } from '../../test/support/scripted-clock.ts';
import { stepUntil } from '../../test/support/steps.ts';
import { type Client, type ClientOptions, createClient } from '../src/create-client.ts';
import type { Environment } from '../src/environment.ts';

/** Answers that a server gives seldom, so that they are scripted at the platform's `fetch`. */
type Answer = (body: string, token: string) => unknown;

const HOUR_MS = 3_600_000;

const refused = (...path: string[]) => ({
  message: 'refused',
  ...(path.length > 0 && { path }),
  extensions: { code: 'UNAUTHENTICATED', retryable: false },
});

function answering(answer: Answer): Pick<Environment, 'fetch'> {
  return {
    fetch: (async (_url: string, init: { body: string; headers: Record<string, string> }) => {
      const token = (init.headers.authorization ?? '').replace('Bearer ', '');
      const body = JSON.stringify(await answer(init.body, token));
      return new Response(body, { headers: { 'content-type': 'application/json' } });
    }) as unknown as Environment['fetch'],
  };
}

/** A client of a server that answers so. */
function open(
  answer: Answer,
  token: ClientOptions['token'] = () => 'first',
  environment: Partial<Environment> = {},
): Client {
  const client = createClient({
    url: 'http://facade/graphql',
    token,
    environment: { ...answering(answer), ...environment },
  });
  onTestFinished(() => client.dispose());
  return client;
}

const isAccountQuestion = (body: string) =>
  body.includes('session') && !body.includes('placeOrder');
const ORDER = { symbol: 'AAPL', side: 'BUY', size: { units: 1 } } as const;
const PLACE = 'mutation { placeOrder { __typename positions { id } } }';
const ACCEPTED = {
  data: { placeOrder: { __typename: 'OrderAccepted', positions: null } },
  errors: [refused('placeOrder', 'positions')],
};

test.each<[string, Answer, string | null]>([
  ['a read beside it was refused and the token cannot be renewed', () => ACCEPTED, null],
  [
    'the renewed token was refused for a read alone',
    (_body, token) =>
      token === 'first'
        ? { data: { placeOrder: null }, errors: [refused('placeOrder')] }
        : ACCEPTED,
    'second',
  ],
])('an outcome is kept where %s', async (_where, answer, renewed) => {
  const client = open(answer, ({ force }) => (force ? renewed : 'first'));
  const { data, errors } = await client.mutate(PLACE);
  expect(data).toEqual(ACCEPTED.data);
  expect(errors.map(({ code }) => code)).toEqual(['UNAUTHENTICATED']);
});

test('an order that the server did not take is unsent, though the session cannot be renewed', async () => {
  const client = open(
    (body) =>
      isAccountQuestion(body)
        ? { data: { session: { login: 'a' } } }
        : { data: { order: null }, errors: [refused('order')] },
    ({ force }) => (force ? null : 'first'),
  );
  const outcome = await client.orders.ticket().place(ORDER);
  expect(outcome).toMatchObject({ status: 'unsent', error: { code: 'SIGNED_OUT' } });
});

test('no attempt of a long patience is sent once the key is older than 23 hours', async () => {
  const clock = createScriptedClock();
  const startMs = clock.now();
  const sentAtMs: number[] = [];
  const client = open(
    (body) => {
      if (isAccountQuestion(body)) return { data: { session: { login: 'a' } } };
      if (body.includes('placeOrder')) sentAtMs.push(clock.now() - startMs);
      const extensions = { code: 'INTERNAL', retryable: true, retryAfter: 6 * 3_600 };
      return { errors: [{ message: 'later', extensions }] };
    },
    undefined,
    { now: clock.now, uptime: clock.now, random: () => 0.5, after: clock.after },
  );
  let isOver = false;
  const placed = client.orders
    .ticket({ maxWaitMs: 48 * HOUR_MS })
    .place(ORDER, { withinMs: 48 * HOUR_MS })
    .finally(() => {
      isOver = true;
    });
  await stepUntil(
    () => isOver,
    () => clock.advance(60_000),
    10_000,
  );
  expect((await placed).status).toBe('unknown');
  expect(sentAtMs.length).toBeGreaterThan(1);
  expect(sentAtMs.every((atMs) => atMs < 23 * HOUR_MS)).toBe(true);
});

test('a change of the token is asked for anew while an older question is under way', async () => {
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  let user = 'a';
  let isSlow = false;
  const client = open(
    (_body, token) => ({ data: { session: { login: token.at(-1) } } }),
    () => {
      asked.push(user);
      const token = `token of ${user}`;
      return isSlow ? new Promise((resolve) => waiting.push(() => resolve(token))) : token;
    },
  );
  await client.query('{ session { login } }');
  isSlow = true;
  const query = client.query('{ session { login } }');
  user = 'b';
  const changed = client.tokenChanged();
  for (const answer of waiting) answer();
  await changed;
  expect(asked.at(-1)).toBe('b');
  await query;
});

test('a request of one account renews a token that was refused for the question whose it is', async () => {
  const client = open(
    (_body, token) =>
      token === 'first' ? { errors: [refused()] } : { data: { session: { login: 'a' } } },
    ({ force }) => (force ? 'second' : 'first'),
  );
  const { data, errors } = await client.query('{ session { login } }', undefined, { account: 'a' });
  expect(errors).toEqual([]);
  expect(data).toEqual({ session: { login: 'a' } });
});

test('a mutation is sent once, also by way of `query`', async () => {
  let sent = 0;
  const client = open(() => {
    sent += 1;
    throw new TypeError('no network');
  });
  await client.query('mutation { a }');
  expect(sent).toBe(1);
});
