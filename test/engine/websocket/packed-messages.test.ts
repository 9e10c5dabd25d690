import { expect, test } from 'vitest';
import { acceptableOffer, isInflated } from '../../../engine/websocket/packed-messages.ts';

test.each([
  ['a browser’s', 'permessage-deflate; client_max_window_bits'],
  ['Firefox’s', 'permessage-deflate'],
  [
    'one with everything',
    'permessage-deflate;client_no_context_takeover; server_no_context_takeover ;client_max_window_bits=10',
  ],
])('%s offer of packed messages is accepted', (_whose, offer) => {
  expect(acceptableOffer(offer)).toBe(offer);
});

test('of several offers the first that suits is accepted', () => {
  const offers =
    'x-webkit-deflate-frame, permessage-deflate; server_max_window_bits=10, permessage-deflate , permessage-deflate; client_max_window_bits';
  expect(acceptableOffer(offers)).toBe('permessage-deflate');
});

test.each([
  undefined,
  '',
  'x-webkit-deflate-frame',
  'permessage-deflate; server_max_window_bits=10',
  'permessage-deflate; unknown',
  'permessage-deflate; client_max_window_bits=16',
  'permessage-deflate-2',
  'not-permessage-deflate',
])('without one that suits none is accepted: %s', (offers) => {
  expect(acceptableOffer(offers)).toBeUndefined();
});

test('messages may unpack to twenty times what was sent, and once to the allowance beyond', () => {
  expect(isInflated(1_200, 10, 1_000)).toBe(false);
  expect(isInflated(1_201, 10, 1_000)).toBe(true);
  expect(isInflated(1_600, 30, 1_000)).toBe(false);
});
