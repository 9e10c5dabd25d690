import { expect, test } from 'vitest';
import { accountClient, addressClient, type Client } from '../../lib/limits/client.ts';
import { PublicLists } from '../../src/domain/public-lists.ts';
import { accountNamed } from '../support/accounts.ts';
import { startPolledLists } from '../support/polled-lists.ts';

const LINGER_MS = 10_000;

function startLists() {
  const { clock, lists, unread } = startPolledLists();
  const shares = new PublicLists(lists);
  const open = (key: string, client: Client) => {
    const stream = shares.opened(key, client, unread(key));
    stream.listen({ woken() {}, ended() {} });
    return stream;
  };
  return { clock, shares, unread, open };
}

const addresses = (count: number) =>
  Array.from({ length: count }, (_, n) => addressClient(`192.0.2.${n}`));

test('clients without a proved account leave room for the accounts', () => {
  const { shares, open } = startLists();
  for (const [n, client] of addresses(8).entries()) {
    for (let m = 0; m < 50; m += 1) {
      expect(shares.hasRoomFor(client)).toBe(true);
      open(`${n} ${m}`, client);
    }
    expect(shares.hasRoomFor(client)).toBe(false);
  }
  expect(shares.hasRoomFor(addressClient('192.0.2.99'))).toBe(false);
  for (const account of ['1', '2']) {
    const client = accountClient(accountNamed(account), 'token');
    for (let m = 0; m < 50; m += 1) {
      expect(shares.hasRoomFor(client)).toBe(true);
      open(`account ${account} ${m}`, client);
    }
  }
  expect(shares.hasRoomFor(accountClient(accountNamed('3'), 'token'))).toBe(false);
});

test('a list counts for the client that opened it from before its first reading until it is gone', async () => {
  const { clock, shares, unread, open } = startLists();
  const [client] = addresses(1) as [Client];
  const streams = Array.from({ length: 49 }, (_, m) => open(`${m}`, client));
  const late = shares.opened('late', client, unread('late'));
  expect(shares.hasRoomFor(client)).toBe(false);
  late.end();
  expect(shares.hasRoomFor(client)).toBe(true);
  open('last', client);
  expect(shares.hasRoomFor(client)).toBe(false);
  streams[0]?.leave();
  await clock.advance(LINGER_MS + 1);
  expect(shares.hasRoomFor(client)).toBe(true);
});

test('lists that nobody has read yet take room from all', () => {
  const { shares, unread } = startLists();
  for (const [n, client] of addresses(8).entries()) {
    for (let m = 0; m < 50; m += 1) shares.opened(`${n} ${m}`, client, unread(`${n} ${m}`));
  }
  expect(shares.hasRoomFor(addressClient('192.0.2.99'))).toBe(false);
});
