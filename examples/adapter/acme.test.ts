// node --test examples/adapter/acme.test.ts
import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { openAdapter } from 'trading-graph/testing';

const acme = await openAdapter(new URL('./acme.ts', import.meta.url));

test('an order goes to Acme as Acme takes it', () => {
  const order = { symbol: 'AAPL', direction: 'buy', type: 'unit', amount: 1, slAmount: 5 };
  const { path, headers, body } = acme.request('openPosition', order);
  equal(path, '/api/v3/trading/positions');
  equal(headers['x-acme-session'], 'Bearer a-token');
  equal(headers.authorization, undefined);
  deepEqual(body, { symbol: 'AAPL', direction: 'buy', type: 'unit', amount: 1, sl_amount: 5 });
  equal(acme.request('getSession').path, '/api/v3/trading/session/700001');
});

test('its answers are read, and an ended session is a 401', () => {
  const sent = '{"data":{"success":true,"order_id":9007199254740993}}';
  const { lost } = acme.answer('openPosition', sent);
  deepEqual(lost, []);
  const row = {
    id: 'p1',
    symbol: 'AAPL',
    is_buy: true,
    units: '1.50',
    time_create: '2026-01-02T03:04:05Z',
  };
  const read = acme.answer('getOpenPositions', { data: { positions: [row] } });
  equal(read.lost.includes('positions[].units'), false);
  equal(read.lost.includes('positions[].timeCreate'), false);
  equal(read.lost.includes('positions[].profit'), true);
  const ended = { error: { code: 'TOKEN_EXPIRED', text: 'Sign in again' } };
  equal(acme.answer('getOpenPositions', ended).status, 401);
});
