import { expect, onTestFinished, test } from 'vitest';
import { type Client, type ClientOptions, createClient } from '../src/create-client.ts';
import type { Environment } from '../src/environment.ts';
import { fakeClient } from '../src/testing.ts';

/** Returns the answer to a body and a token. A scripted `fetch` gives such answers, because a server rarely does. */
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
  ['a read after the order is refused and the token cannot be renewed', () => ACCEPTED, null],
  [
    'the renewed token is refused for the read after the order',
    (_body, token) =>
      token === 'first'
        ? { data: { placeOrder: null }, errors: [refused('placeOrder')] }
        : ACCEPTED,
    'second',
  ],
])('an outcome is kept if %s', async (_condition, answer, renewed) => {
  const client = open(answer, ({ force }) => (force ? renewed : 'first'));
  const { data, errors } = await client.mutate(PLACE);
  expect(data).toEqual(ACCEPTED.data);
  expect(errors.map(({ code }) => code)).toEqual(['UNAUTHENTICATED']);
});

test('a request for one account renews a token that is refused while the client asks for the token’s login', async () => {
  const client = open(
    (_body, token) =>
      token === 'first' ? { errors: [refused()] } : { data: { session: { login: 'a' } } },
    ({ force }) => (force ? 'second' : 'first'),
  );
  const { data, errors } = await client.query('{ session { login } }', undefined, { account: 'a' });
  expect(errors).toEqual([]);
  expect(data).toEqual({ session: { login: 'a' } });
});

test.each(['{"data":null}', '{"errors":[]}', '{"data":null,"errors":[]}'])(
  'an answer with neither data nor errors is a protocol error: %s',
  async (text) => {
    const { data, errors } = await open(() => JSON.parse(text)).query('{ a }');
    expect([data, errors]).toMatchObject([null, [{ code: 'PROTOCOL', retryable: false }]]);
  },
);

test('a request keeps the variables of its call, even if the object changes before the request is repeated', async () => {
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
  // The first request is repeated.
  expect(sent).toEqual([1, 2, 3, 1]);
});

test('an error that the app throws in `onPart` goes to the platform, and the answer is still complete', async () => {
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

test('a listener that another listener has removed is not called', async () => {
  const { client, market } = fakeClient();
  // Makes the client ask for its login, so that another login is a change.
  await client.query('{ a }', undefined, { account: 'nobody' });
  const called: string[] = [];
  client.onAccountChange(() => {
    called.push('first');
    removeSecond();
  });
  const removeSecond = client.onAccountChange(() => called.push('second'));
  client.onAccountChange(() => called.push('third'));
  await market.signIn('700002');
  await client.tokenChanged();
  await market.pass(0);
  expect(called).toEqual(['first', 'third']);
  client.dispose();
});
