import { expect, onTestFinished, test } from 'vitest';
import { type Client, type ClientOptions, createClient } from '../src/create-client.ts';
import type { Environment } from '../src/environment.ts';
import { fakeClient } from '../src/testing.ts';

/** Answers that a server rarely gives, so they are scripted at the platform's `fetch`. */
type Answer = (body: string, token: string) => unknown;

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

/** A client of a server with these answers. */
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

test.each(['{"data":null}', '{"errors":[]}', '{"data":null,"errors":[]}'])(
  'an answer with neither data nor errors is none: %s',
  async (text) => {
    const { data, errors } = await open(() => JSON.parse(text)).query('{ a }');
    expect([data, errors]).toMatchObject([null, [{ code: 'PROTOCOL', retryable: false }]]);
  },
);

test('a request has the variables of its call, also when the object changes before a repeat', async () => {
  const sent: unknown[] = [];
  const variables = { ids: [0] };
  const unavailable = { message: 'later', extensions: { code: 'INTERNAL', retryable: true } };
  const client = open(
    (body) => {
      sent.push(JSON.parse(body).variables.ids[0]);
      return sent.length === 1 ? { errors: [unavailable] } : { data: { a: 1 } };
    },
    async () => 'first',
    { random: () => 0 },
  );
  const asked = [1, 2, 3].map((id) => {
    variables.ids[0] = id;
    return client.query('query ($ids: [Int]) { a(ids: $ids) }', variables);
  });
  variables.ids[0] = Number.NaN;
  for (const { errors } of await Promise.all(asked)) expect(errors).toEqual([]);
  expect(sent).toEqual([1, 2, 3, 1]);
});

test('an error of the app’s own in a part is reported by the platform, and the answer is the whole one', async () => {
  const thrown: unknown[] = [];
  const error = new Error('of the app');
  const { client, market } = fakeClient({
    client: {
      environment: {
        after: (ms, task) =>
          market.network.time.after(ms, () => {
            try {
              task();
            } catch (reported) {
              thrown.push(reported);
            }
          }),
      },
    },
  });
  const onPart = () => {
    throw error;
  };
  const asking = client.query('{ a b }', undefined, { onPart });
  await market.pass(0);
  const parts = market.waiting[0]?.stream('multipart/mixed; boundary="-"');
  const write = (part: object) => parts?.write(`---\r\n\r\n${JSON.stringify(part)}\r\n---`);
  write({ data: { a: 1 }, hasNext: true });
  write({ incremental: [{ data: { b: 2 } }], hasNext: false });
  parts?.end();
  await market.pass(60);
  expect(await asking).toEqual({ data: { a: 1, b: 2 }, errors: [] });
  expect([thrown, market.waiting.filter(({ isOver }) => !isOver)]).toEqual([[error], []]);
  client.dispose();
});

test('a listener that another one has ended is not called any more', async () => {
  const { client, market } = fakeClient();
  await client.query('{ a }', undefined, { account: 'nobody' });
  const told: string[] = [];
  client.onAccountChange(() => {
    told.push('first');
    end();
  });
  const end = client.onAccountChange(() => told.push('second'));
  client.onAccountChange(() => told.push('third'));
  await market.signIn('700002');
  await client.tokenChanged();
  await market.pass(0);
  expect(told).toEqual(['first', 'third']);
  client.dispose();
});
