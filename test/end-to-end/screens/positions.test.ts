import { describe, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { useSignedInApp } from '../../support/signed-in-app.ts';
import { webSocketClient } from '../live/watcher.ts';

const screen = useSignedInApp();

describe('the newest list of positions', () => {
  test('is the one served, in the snapshot too', async () => {
    await screen.read('{ session { positions { id } } }');
    answerPositions([{ id: '1', symbol: 'AAPL' }]);
    await screen.read('{ positions { id } }');
    // The snapshot is requested first and answered last, so its own list is the older one by then.
    screen.app.sandbox.fail({ operation: 'getSession', kind: 'delay', delayMs: 400 });
    const slow = screen.read('{ session(maxAge: 0) { positions { id } } }');
    await eventually(() => screen.calls('getSession') === 2);
    await screen.read('{ positions { id } }');
    expect(await slow).toEqual({ session: { positions: [{ id: '1' }] } });
  });

  test('is not replaced by an older one that is received later', async () => {
    answerPositions([{ id: 'old', symbol: 'AAPL' }], { delayMs: 400, times: 1 });
    const slow = screen.read('{ positions { id } }');
    await eventually(() => screen.calls('getOpenPositions') === 1);
    answerPositions([{ id: 'new', symbol: 'AAPL' }]);
    expect(await screen.read('{ positions { id } }')).toEqual({ positions: [{ id: 'new' }] });
    expect(await slow).toEqual({ positions: [{ id: 'new' }] });
  });

  test('is read anew after a write, though a feed has one that counts as fresh', async () => {
    await using app = await startTestApp({ POSITIONS_POLL_MS: '20000' });
    const token = await app.signIn();
    const client = webSocketClient(app, token);
    const watcher = client.watch();
    await eventually(() => watcher.events.length > 0);
    app.sandbox.clearCalls();
    const read = await app.query('{ positions { id } }', { token });
    expect(app.sandbox.calls('getOpenPositions')).toBe(0);
    const { data, extensions } = await app.query(
      `mutation { placeOrder(input: {
        symbol: "AAPL", side: BUY, size: { units: 1 }, idempotencyKey: "after a write"
      }) { ... on OrderAccepted { positions { id } } } }`,
      { token },
    );
    expect(data.placeOrder.positions).toHaveLength(read.data.positions.length + 1);
    expect(extensions.gateway).toContainEqual(
      expect.objectContaining({ operation: 'getOpenPositions', source: 'call' }),
    );
    await client.dispose();
  });

  test('is shared by the account’s tokens once they are proved', async () => {
    await screen.read('{ session { login } }');
    const other = screen.app.sandbox.token({ email: 'demo@example.com' });
    await screen.app.query('{ session { login } }', { token: other });
    answerPositions([{ id: 'old', symbol: 'AAPL' }], { delayMs: 400, times: 1 });
    const slow = screen.read('{ positions { id } }');
    await eventually(() => screen.calls('getOpenPositions') === 1);
    answerPositions([{ id: 'new', symbol: 'AAPL' }]);
    await screen.app.query('{ positions { id } }', { token: other });
    expect(await slow).toEqual({ positions: [{ id: 'new' }] });
  });

  test.each([
    [{}],
    [{ positions: null }],
    [{ positions: [{ id: '1' }] }],
    [{ positions: [{ symbol: 'AAPL' }] }],
    [{ positions: [{ id: '', symbol: 'AAPL' }] }],
    [[]],
  ])('is outside the interface where a row has no distinct id: %j', async (body) => {
    screen.app.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 200, body });
    const { data, errors } = await screen.app.query('{ positions { id } }', {
      token: screen.token,
    });
    expect(data).toEqual({ positions: null });
    expect(errors[0]?.extensions.code).toBe('GATEWAY_CONTRACT');
  });

  test('keeps a stop-loss of 0, and has null for what is missing or of another type', async () => {
    answerPositions([{ id: '1', symbol: 'X', sl: 0, tp: '5', isBuy: 1, digits: 1.5, units: null }]);
    const data = await screen.read(
      '{ positions { stopLoss takeProfit side digits units profit instrument { id } } }',
    );
    expect(data.positions).toEqual([
      {
        stopLoss: 0,
        takeProfit: null,
        side: null,
        digits: null,
        units: null,
        profit: null,
        instrument: null,
      },
    ]);
  });
});

function answerPositions(
  positions: readonly object[],
  more: { delayMs?: number; times?: number } = {},
) {
  screen.app.sandbox.fail({
    operation: 'getOpenPositions',
    kind: 'status',
    status: 200,
    body: { positions },
    ...more,
  });
}
