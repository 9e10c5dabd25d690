import { expect, test, vi } from 'vitest';
import type { OperationContext } from '../../src/engine/admission/operation-context.ts';
import { serveExample } from '../../src/engine/example/serve.ts';
import { createLog } from '../../src/lib/log.ts';
import { initializedSocket } from '../end-to-end/live/raw-socket.ts';
import { eventually } from '../support/eventually.ts';
import { send, TRANSPORTS } from '../support/four-transports.ts';
import { collectGarbage } from '../support/heap.ts';
import { startedOnce } from '../support/started.ts';

const ROOM = '{ room { text } }';
const FOLLOW = 'subscription { room { upserted { text } } }';

/** The engine with a schema that is none of ours: a room in which people say something. */
const example = startedOnce(async () => {
  const log = createLog({ level: 'fatal', format: 'json', destination: { write() {} } });
  const engine = await serveExample(log);
  const port = await engine.server.listen(0, '127.0.0.1');
  engine.readiness.phase = 'serving';
  return {
    engine,
    url: `http://127.0.0.1:${port}`,
    webSocketUrl: `ws://127.0.0.1:${port}/graphql`,
    async close() {
      engine.server.terminate();
      await engine.server.drain();
    },
  };
});

test.each(TRANSPORTS)('answers by %s', async (transport) => {
  const text = `by ${transport}`;
  // A GET changes nothing.
  const by = transport === 'GET' ? 'POST' : transport;
  const said = await send(example, by, {
    query: 'mutation ($text: String!) { say(text: $text) { text } }',
    variables: { text },
  });
  expect(said.data.say).toContainEqual({ text });
  const read = await send(example, transport, ROOM);
  expect(read.data).toEqual({ room: said.data.say });
});

test('holds nothing of what a socket has asked for, though a resolver listens for its client to leave', async () => {
  const { room } = example.engine.graph.schema.getQueryType()?.getFields() ?? {};
  const { resolve } = room ?? {};
  const HELD = '{ held: room { text } }';
  const contexts: WeakRef<OperationContext>[] = [];
  const listens = (_root: unknown, _args: unknown, context: OperationContext) => {
    contexts.push(new WeakRef(context));
    context.operation.signal?.addEventListener('abort', () => context.receipt);
    return [];
  };
  Object.assign(room ?? {}, { resolve: listens });
  using socket = await initializedSocket(example);
  for (const id of ['1', '2', '3']) {
    socket.subscribe(id, HELD);
    await socket.until(id, 'complete');
  }
  Object.assign(room ?? {}, { resolve });
  await eventually(() => {
    collectGarbage();
    expect(contexts.filter((each) => each.deref() !== undefined)).toEqual([]);
  });
  expect(contexts).toHaveLength(3);
});

test('makes an event of a live list once for all who follow', async () => {
  const { room } = example.engine.graph.schema.getSubscriptionType()?.getFields() ?? {};
  const resolve = vi.fn(room?.resolve);
  Object.assign(room ?? {}, { resolve });
  using one = await initializedSocket(example);
  using other = await initializedSocket(example);
  for (const socket of [one, other]) {
    socket.subscribe('1', FOLLOW);
    await eventually(() => expect(socket.of('1')).toHaveLength(1));
  }
  resolve.mockClear();
  await send(example, 'POST', 'mutation { say(text: "to both") { text } }');
  await eventually(() => one.of('1').length === 2 && other.of('1').length === 2);
  const [, second] = one.of('1').map(({ payload }) => payload.data.room);
  expect(second.upserted).toEqual([{ text: 'to both' }]);
  expect(one.of('1')[1]).toEqual(other.of('1')[1]);
  expect(resolve).toHaveBeenCalledOnce();
});

test.each(['WebSocket', 'SSE'] as const)(
  'follows an async iterable to its end over %s, each reader its own',
  async (transport) => {
    using socket = await initializedSocket(example);
    const query = 'subscription ($to: Int!) { count(to: $to) }';
    if (transport === 'SSE') {
      const body = JSON.stringify({ query, variables: { to: 3 } });
      const headers = { accept: 'text/event-stream', 'content-type': 'application/json' };
      const response = await fetch(`${example.url}/graphql`, { method: 'POST', headers, body });
      const counts = [...(await response.text()).matchAll(/"count":(\d)/g)].map(([, n]) => n);
      expect(counts).toEqual(['1', '2', '3']);
      return;
    }
    for (const [id, to] of [
      ['a', 3],
      ['b', 2],
    ] as const) {
      socket.subscribe(id, query, { to });
    }
    await Promise.all(['a', 'b'].map((id) => socket.until(id, 'complete')));
    const countsOf = (id: string) =>
      socket.of(id).flatMap(({ payload }) => payload?.data?.count ?? []);
    expect([countsOf('a'), countsOf('b')]).toEqual([
      [1, 2, 3],
      [1, 2],
    ]);
  },
);
