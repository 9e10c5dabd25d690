import { expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';

test('an order whose token cannot be proved under the rate limit is distinct from an unreachable gateway', async () => {
  await using app = await startTestApp();
  const email = 'user-1@example.com';
  const token = app.sandbox.token({ email });
  const place = (key: string) =>
    app.query(
      `mutation { placeOrder(input: { symbol: "AAPL", side: BUY, size: { units: 1 }, idempotencyKey: "${key}" }) { __typename } }`,
      { token },
    );
  const counted = async () => {
    const text = await (await fetch(`${app.adminUrl}/metrics`)).text();
    return text.split('\n').filter((line) => /^trading_graph_errors_total\{.* [1-9]/.test(line));
  };
  const fault = { operation: 'getSession', kind: 'status' } as const;
  app.sandbox.fail({ ...fault, status: 429, headers: { 'retry-after': '3' } });
  expect((await place('limited')).errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }]);
  expect(await counted()).toEqual([
    'trading_graph_errors_total{code="RATE_LIMITED",operation="getSession"} 1',
  ]);
  app.sandbox.clearFaults();
  app.sandbox.fail({ ...fault, status: 500 });
  expect((await place('unreachable')).errors).toMatchObject([
    { extensions: { code: 'GATEWAY_UNAVAILABLE' } },
  ]);
  expect(await counted()).toContain(
    'trading_graph_errors_total{code="GATEWAY_UNAVAILABLE",operation="openPosition"} 1',
  );
  expect(app.sandbox.calls('openPosition')).toBe(0);
});
