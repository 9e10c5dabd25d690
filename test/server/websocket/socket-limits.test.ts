import { expect, test } from 'vitest';
import { SocketLimits } from '../../../src/server/websocket/socket-limits.ts';

const limits = () => new SocketLimits({ perAccount: 2, perAddress: 3 });

test('an address has a limit of unproved sockets', () => {
  const sockets = limits();
  const [first] = [1, 2, 3].map(() => sockets.enter('192.0.2.1'));
  expect(sockets.enter('192.0.2.1')).toBeNull();
  expect(sockets.enter('192.0.2.2')).not.toBeNull();
  first?.leave();
  expect(sockets.enter('192.0.2.1')).not.toBeNull();
});

test('a socket of an account no longer counts for its address', () => {
  const sockets = limits();
  for (let at = 0; at < 10; at += 1) {
    expect(sockets.enter('192.0.2.1')?.claim(`account ${at}`)).toBe(true);
  }
});

test('an account has a limit of sockets over all addresses', () => {
  const sockets = limits();
  const passes = [1, 2, 3].map((at) => sockets.enter(`192.0.2.${at}`));
  expect(passes.map((pass) => pass?.claim('account 1'))).toEqual([true, true, false]);
  // A claim is idempotent.
  expect(passes[0]?.claim('account 1')).toBe(true);
  passes[0]?.leave();
  expect(passes[2]?.claim('account 1')).toBe(true);
  passes[1]?.leave();
  passes[2]?.leave();
  expect(sockets.enter('192.0.2.4')?.claim('account 1')).toBe(true);
});
