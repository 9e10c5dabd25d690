import { expect, test } from 'vitest';
import {
  acceptableOffer,
  isInflated,
} from '../../../../engine/transports/websocket/packed-messages.ts';

const BROWSERS = 'permessage-deflate; client_max_window_bits';
const FULL =
  'permessage-deflate;client_no_context_takeover; server_no_context_takeover ;client_max_window_bits=10';

test.each([
  [BROWSERS, BROWSERS],
  ['permessage-deflate', 'permessage-deflate'],
  [FULL, FULL],
  // The first that suits.
  [
    `x-webkit-deflate-frame, permessage-deflate; server_max_window_bits=10, permessage-deflate , ${FULL}`,
    'permessage-deflate',
  ],
  [undefined, undefined],
  ['', undefined],
  ['permessage-deflate; server_max_window_bits=10', undefined],
  ['permessage-deflate; unknown', undefined],
  ['permessage-deflate; client_max_window_bits=16', undefined],
  ['permessage-deflate-2', undefined],
  ['not-permessage-deflate', undefined],
])('of the offers of packed messages %s is accepted %s', (offers, accepted) => {
  expect(acceptableOffer(offers)).toBe(accepted);
});

test('messages may unpack to twenty times what was sent, and once to the allowance beyond', () => {
  expect(isInflated(1_200, 10, 1_000)).toBe(false);
  expect(isInflated(1_201, 10, 1_000)).toBe(true);
  expect(isInflated(1_600, 30, 1_000)).toBe(false);
});
