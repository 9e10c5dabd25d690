import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { heldBytes } from '../../support/heap.ts';
import { sharedApp } from '../../support/shared-app.ts';

const MEGABYTE = 1_048_576;
// The failed write of a heartbeat or a ping would end an unread stream as well.
const NEVER_MS = 86_400_000;

const app = sharedApp(
  { POSITIONS_POLL_MS: '100', RATE_LIMIT_PER_MINUTE: '1000000' },
  { heartbeatMs: NEVER_MS, connections: { pingMs: NEVER_MS } },
);
let token: string;
beforeAll(() => {
  token = app.sandbox.token({ email: 'demo@example.com' });
});

/** Opens an event stream on a connection that a test may destroy. */
async function openStream(variables: object = {}): Promise<ClientRequest> {
  const outgoing = request(`${app.url}/graphql`, {
    method: 'POST',
    agent: false,
    headers: {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
    },
  });
  outgoing.on('error', () => {});
  const query = 'subscription ($after: String) { positionChanges(after: $after) { cursor } }';
  outgoing.end(JSON.stringify({ query, variables }));
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  await once(response, 'data');
  return outgoing;
}

async function subscriptions(): Promise<number> {
  const text = await (await fetch(`${app.adminUrl}/metrics`)).text();
  return Number(/^trading_graph_subscriptions (\d+)$/m.exec(text)?.[1]);
}

describe('event streams whose clients disconnect while the feed is quiet', () => {
  test('unsubscribe, and release the memory of their requests', async () => {
    const comeAndGo = async () => {
      for (let at = 0; at < 40; at += 1) {
        const stream = await openStream({ after: `${at} ${'x'.repeat(240_000)}` });
        stream.destroy();
      }
      await eventually(async () => (await subscriptions()) === 0);
    };
    await comeAndGo();
    const before = heldBytes();
    for (let round = 0; round < 4; round += 1) await comeAndGo();
    expect((heldBytes() - before) / MEGABYTE).toBeLessThan(10);
  });
});
