import { expect, test } from 'vitest';
import { useSignedInApp } from '../../support/signed-in-app.ts';

const screen = useSignedInApp();

test.each([
  [200, { success: false, orderId: '55' }],
  [401, { error: 'EXPIRED', orderId: 55 }],
  [403, { error: 'RESTRICTED', orderId: '55' }],
  [409, { orderId: '55' }],
  [429, { orderId: '55' }],
])(
  'a refusal with status %i that names an order is no refusal, and its key does not come free',
  async (status, body) => {
    const { app, token } = screen;
    app.sandbox.fail({ operation: 'openPosition', kind: 'status', status, body, times: 1 });
    const document = `mutation { placeOrder(input: {
    kind: MARKET, symbol: "AAPL", side: BUY, size: { units: 1 }, idempotencyKey: "named-${status}"
  }) { __typename ... on OrderOutcome { message replayed } } }`;
    const place = async () => (await app.query(document, { token })).data.placeOrder;
    const message = expect.stringContaining('The gateway named the order 55.');
    const unknown = { __typename: 'OrderOutcomeUnknown', message };
    expect(await place()).toEqual({ ...unknown, replayed: false });
    expect(await place()).toEqual({ ...unknown, replayed: true });
    expect(screen.calls('openPosition')).toBe(1);
  },
);
