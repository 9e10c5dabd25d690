import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { ASSAULTS } from '../../bench/support/hostile/assaults.ts';
import { ReplyTally } from '../../bench/support/hostile/reply-tally.ts';

const write = () => ({ text: '{ __typename }', variables: {} });

test('a document that is not answered before its time is over counts as unanswered', async () => {
  const over = new AbortController();
  await using server = createServer(() => over.abort()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const replies = new ReplyTally();
  const account = { port, token: '' };
  await ASSAULTS.query({ account, write, signal: over.signal, replies });
  server.closeAllConnections();
  expect(String(replies)).toBe('unanswered × 1');
});
