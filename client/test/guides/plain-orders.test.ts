import { beforeEach, expect, test } from 'vitest';
import { sharedApp } from '../../../test/support/shared-app.ts';
import { namedSamples } from '../support/samples.ts';

type Post = (query: string, variables: object) => Promise<unknown>;
interface Placed {
  readonly outcome?: object;
  readonly error?: { readonly message: string };
}
type PlaceOrder = (post: Post, key: string, order: object, ms?: number) => Promise<Placed>;

const app = sharedApp();
beforeEach(() => app.sandbox.clearCalls());

const { text = '' } = namedSamples('docs/orders.md').get('place-order.js') ?? {};
const program = `data:text/javascript,${encodeURIComponent(text)}`;
const { placeOrder }: { placeOrder: PlaceOrder } = await import(program);

const buying = (symbol: string) => ({ symbol, side: 'BUY', kind: 'MARKET', size: { units: 1 } });

async function newKey(): Promise<string> {
  const { data } = await app.query('mutation { newOrderKey }', { token: null });
  return data.newOrderKey;
}

/** Sends a document. The answers of the first `lost` requests are lost, and the token of later requests may be `ended`. */
function poster({ lost = 0, ended = false }: { lost?: number; ended?: boolean }): Post {
  const valid = app.sandbox.token({ email: 'demo@example.com' });
  let sent = 0;
  return async (query, variables) => {
    sent += 1;
    const isLost = sent <= lost;
    const token = isLost || !ended ? valid : 'ended';
    const { data, errors } = await app.query(query, { token, variables: { ...variables } });
    if (isLost) throw new TypeError('Failed to fetch');
    return { data, errors };
  };
}

test.each([
  ['the gateway’s answer', 'AAPL', {}, 'OrderAccepted'],
  ['the outcome of the first request', 'AAPL', { lost: 1 }, 'OrderAccepted'],
  ['that nobody knows', 'TEST.UNKNOWN', { lost: 1 }, 'OrderOutcomeUnknown'],
])(
  'the program for plain `fetch` sends an order once and reports %s',
  async (_, symbol, line, outcome) => {
    const placed = await placeOrder(poster(line), await newKey(), buying(symbol));
    expect(placed.outcome).toMatchObject({ __typename: outcome });
    expect(app.sandbox.calls('openPosition')).toBe(1);
  },
);

test('the program returns a mistake, and its key places the order once that is mended', async () => {
  const key = await newKey();
  const refused = await placeOrder(poster({}), key, { ...buying('AAPL'), size: { units: -1 } });
  expect(refused.error?.message).toMatch(/units/);
  const placed = await placeOrder(poster({}), key, buying('AAPL'));
  expect(placed.outcome).toMatchObject({ __typename: 'OrderAccepted' });
  expect(app.sandbox.calls('openPosition')).toBe(1);
});

test.each([
  ['as unknown if the answer of an earlier request was lost', 1, {}],
  ['as not sent if no request was', 0, { error: { extensions: { code: 'UNAUTHENTICATED' } } }],
])('the program reports an order whose token ends %s', async (_, lost, reported) => {
  const placed = await placeOrder(poster({ lost, ended: true }), await newKey(), buying('AAPL'));
  expect(placed).toMatchObject(reported);
  expect(placed.error === undefined).toBe(lost > 0);
  expect(app.sandbox.calls('openPosition')).toBe(lost);
});

test('the program reports no outcome of another order that used its key', async () => {
  const key = await newKey();
  await placeOrder(poster({}), key, buying('AAPL'));
  const other = await placeOrder(poster({}), key, { ...buying('AAPL'), size: { units: 2 } });
  expect(other).toMatchObject({ error: { extensions: { code: 'BAD_USER_INPUT' } } });
  expect(app.sandbox.calls('openPosition')).toBe(1);
});
