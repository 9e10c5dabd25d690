import { expect, test, vi } from 'vitest';
import { serveExample } from '../../engine/example/serve.ts';
import { createLog } from '../../lib/log.ts';
import { initializedSocket } from '../end-to-end/live/raw-socket.ts';
import { eventually } from '../support/eventually.ts';
import { send, TRANSPORTS } from '../support/four-transports.ts';
import { startedOnce } from '../support/started.ts';

const ROOM = '{ room { messages { text } } }';

/** The engine with a schema that is none of ours: a room in which people say something. */
const example = startedOnce(async () => {
  const log = createLog({ level: 'fatal', format: 'json', destination: { write() {} } });
  const engine = serveExample(log);
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
    query: 'mutation ($text: String!) { say(text: $text) { messages { text } } }',
    variables: { text },
  });
  expect(said.data.say.messages).toContainEqual({ text });
  const read = await send(example, transport, ROOM);
  expect(read.data).toEqual({ room: said.data.say });
});

test('refuses what could be too large an answer, and documents that are none of the schema or of no language', async () => {
  const parts = Array.from({ length: 6 }, (_, n) => `a${n}: room { messages { text } }`);
  for (const [query, extensions] of [
    [`{ ${parts.join(' ')} }`, { code: 'QUERY_TOO_COMPLEX', limit: 'MAX_COST', maximum: 250 }],
    ['{ room { nothing } }', { code: 'GRAPHQL_VALIDATION_FAILED' }],
    ['{', { code: 'GRAPHQL_PARSE_FAILED' }],
  ] as const) {
    expect((await send(example, 'POST', query)).errors).toMatchObject([{ extensions }]);
  }
});

test('makes an event once for all who follow', async () => {
  const { room } = example.engine.graph.schema.getSubscriptionType()?.getFields() ?? {};
  const resolve = vi.fn(room?.resolve);
  Object.assign(room ?? {}, { resolve });
  using one = await initializedSocket(example);
  using other = await initializedSocket(example);
  for (const socket of [one, other]) {
    socket.say({ id: '1', type: 'subscribe', payload: { query: `subscription ${ROOM}` } });
    await eventually(() => expect(socket.of('1')).toHaveLength(1));
  }
  resolve.mockClear();
  await send(example, 'POST', 'mutation { say(text: "to both") { messages { text } } }');
  await eventually(() => one.of('1').length === 2 && other.of('1').length === 2);
  expect(one.of('1')[1]).toEqual(other.of('1')[1]);
  expect(resolve).toHaveBeenCalledOnce();
});
