import { beforeAll, describe, expect, test, vi } from 'vitest';
import { Documents } from '../../../src/engine/index.ts';
import { startTestApp } from '../../support/app.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { FRAMES, frame, OPCODES } from '../../support/websocket-frames.ts';
import { codesOf } from '../limits/every-transport.ts';
import { initializedSocket, openSocket, type RawSocket } from './raw-socket.ts';
import { CHANGES } from './watcher.ts';

const app = sharedApp({ POSITIONS_POLL_MS: '200' });
let token: string;
beforeAll(() => {
  token = app.sandbox.token({ email: 'demo@example.com' });
});

const TOO_LARGE = frame(OPCODES.text, Buffer.alloc(4), { announced: 2 ** 40 });
const writeBytes =
  (bytes: string | Buffer = '') =>
  (raw: RawSocket) =>
    raw.stream.write(bytes);

const subscribeMessage = (id: string) =>
  JSON.stringify({ type: 'subscribe', id, payload: { query: '{ __typename }' } });

describe('the client of a socket', () => {
  test.each([
    ['invalid JSON', 'hello'],
    ['a list', '[]'],
    ['a message within a string', JSON.stringify('{"type":"ping"}')],
    ['a message type of the server', '{"type":"next","id":"1","payload":{}}'],
    ['an id that is too long', subscribeMessage('x'.repeat(256))],
  ])('is closed with 4400 for an invalid message: %s', async (_what, message) => {
    using raw = await initializedSocket(app, token);
    raw.send(message);
    expect(await raw.untilClosed()).toEqual({ code: 4400, reason: 'Invalid message received' });
    expect(app.logged.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

  test('is closed with 4406 if it does not offer the protocol graphql-transport-ws', async () => {
    for (const protocols of [['graphql-ws'], ['mqtt', 'soap'], []]) {
      using raw = await openSocket(app, protocols);
      expect(await raw.untilClosed()).toEqual({ code: 4406, reason: 'Subprotocol not acceptable' });
    }
    using raw = await openSocket(app, ['graphql-ws', 'graphql-transport-ws']);
    expect(raw.socket.protocol).toBe('graphql-transport-ws');
  });

  test('is closed with 4401 if it subscribes before connection_init, and with 4408 if it sends nothing', async () => {
    using hasty = await openSocket(app);
    using silent = await openSocket(app);
    hasty.subscribe('1', CHANGES);
    expect(await hasty.untilClosed()).toEqual({ code: 4401, reason: 'Unauthorized' });
    expect(hasty.messages).toEqual([]);
    const reason = 'Connection initialisation timeout';
    expect(await silent.untilClosed()).toEqual({ code: 4408, reason });
  });

  test.each<[what: string, code: number, send: (raw: RawSocket) => unknown, reason?: string]>([
    [
      'it uses an id twice',
      4409,
      async (raw) => {
        await raw.watch('twice');
        raw.subscribe('twice', CHANGES);
      },
      'Subscriber for twice already exists',
    ],
    [
      'it sends connection_init twice',
      4429,
      (raw) => raw.send({ type: 'connection_init' }),
      'Too many initialisation requests',
    ],
    ['a frame’s header announces too large a payload', 1009, writeBytes(TOO_LARGE)],
    ['reserved bits of a frame are set', 1002, writeBytes(FRAMES.reserved)],
    ['a text is not UTF-8', 1007, writeBytes(FRAMES.noText)],
  ])('is closed if %s: %i', async (_what, code, send, reason = expect.anything()) => {
    using raw = await initializedSocket(app, token);
    await send(raw);
    expect(await raw.untilClosed()).toEqual({ code, reason });
  });

  test('can use an id up to the maximum length', async () => {
    using raw = await initializedSocket(app, token);
    const id = 'x'.repeat(255);
    raw.send(subscribeMessage(id));
    expect((await raw.until(id, 'next')).payload.data).toEqual({ __typename: 'Query' });
  });

  test('can send a token up to the maximum length of a header', async () => {
    const maxLength = 16_384;
    using longest = await initializedSocket(app, 'x'.repeat(maxLength - 'Bearer '.length));
    const { payload } = await longest.watch('1', '{ customerId }');
    expect(codesOf(payload)).toEqual(['UNAUTHENTICATED']);
    using tooLong = await openSocket(app);
    const authorization = 'x'.repeat(maxLength + 1);
    tooLong.send({ type: 'connection_init', payload: { authorization } });
    expect(await tooLong.untilClosed()).toMatchObject({ code: 4400 });
  });
});

test('a server that shuts down closes sockets with 1012 and does not complete their subscriptions', async () => {
  await using own = await startTestApp({ POSITIONS_POLL_MS: '100' });
  using raw = await initializedSocket(own, own.sandbox.token({ email: 'demo@example.com' }));
  await raw.watch('1');
  const closed = own.close();
  expect(await raw.untilClosed()).toEqual({ code: 1012, reason: 'restarting' });
  // A `complete` would mean a regular end.
  expect(raw.messagesOf('1').every(({ type }) => type === 'next')).toBe(true);
  await closed;
});

test('a server error ends its operation, is logged, and leaves the socket open', async () => {
  await using own = await startTestApp();
  // No request causes such an error, so the test replaces a method.
  vi.spyOn(Documents.prototype, 'prepare').mockImplementation(() => {
    throw new RangeError('out of order');
  });
  using raw = await initializedSocket(own);
  raw.subscribe('1', '{ __typename }');
  const { payload } = await raw.until('1', 'error');
  expect(payload).toMatchObject([{ extensions: { code: 'INTERNAL' } }]);
  vi.restoreAllMocks();
  raw.subscribe('2', '{ __typename }');
  await raw.until('2', 'next');
  const lines = own.logged.map((line) => JSON.parse(line));
  const fault = lines.find(({ level }) => level === 'error');
  expect(fault).toMatchObject({ err: { message: 'out of order' } });
  const { requestId } = fault;
  const line = { requestId, transport: 'websocket', outcome: 'fault', codes: ['INTERNAL'] };
  expect(lines).toContainEqual(expect.objectContaining(line));
});
