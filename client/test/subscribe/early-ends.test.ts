import { expect, test } from 'vitest';
import {
  SocketTransport,
  type SocketTransportOptions,
} from '../../src/subscribe/socket-transport.ts';
import { countedEnvironment } from '../support/counted-environment.ts';

/** A WebSocket for which the test acts as the server. `last` is the newest. */
class ScriptedSocket extends EventTarget {
  static last: ScriptedSocket;
  readonly sent: unknown[] = [];
  closes = 0;

  constructor() {
    super();
    ScriptedSocket.last = this;
  }
  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }
  close(): void {
    this.closes += 1;
  }
  receive(message: object): void {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(message) }));
  }
}

function open(sendsAfter: SocketTransportOptions['sendsAfter'], acknowledged = () => {}) {
  const environment = countedEnvironment();
  const transport = new SocketTransport({
    environment,
    WebSocket: ScriptedSocket as unknown as typeof WebSocket,
    sendsAfter,
    url: 'http://127.0.0.1:9/graphql',
    token: 'token',
    heartbeatMs: 15_000,
    events: { acknowledged, lost: () => losses++ },
  });
  let losses = 0;
  let ends = 0;
  transport.start(
    { document: { query: '{ a }' }, variables: {} },
    { next() {}, ended: () => ends++ },
  );
  return {
    socket: ScriptedSocket.last,
    environment,
    transport,
    ends: () => ends,
    losses: () => losses,
  };
}

test.each(['error', 'complete'])(
  'a request that ends by %s before the acknowledgement is not sent after it',
  (type) => {
    const { socket, environment, transport, ends } = open('acknowledgement');
    socket.receive({ id: '1', type, ...(type === 'error' && { payload: [{ message: 'no' }] }) });
    socket.receive({ type: 'connection_ack' });
    expect(ends()).toBe(1);
    expect(socket.sent).toEqual([]);
    transport.close();
    expect(environment.timers.size).toBe(0);
  },
);

test('a request is sent once: with the first message, or after the acknowledgement if it has to wait', () => {
  for (const [sendsAfter, before] of [
    ['opening', ['connection_init', 'subscribe']],
    ['acknowledgement', ['connection_init']],
  ] as const) {
    const { socket, transport, environment } = open(sendsAfter);
    expect(socket.sent).toEqual([]);
    socket.dispatchEvent(new Event('open'));
    expect(socket.sent).toMatchObject(before.map((type) => ({ type })));
    socket.receive({ type: 'connection_ack' });
    socket.receive({ type: 'connection_ack' });
    expect(socket.sent).toMatchObject([{ type: 'connection_init' }, { id: '1' }]);
    // Only the timer of the watchdog is left.
    expect(environment.timers.size).toBe(1);
    transport.close();
    expect(environment.timers.size).toBe(0);
  }
});

test('a message of an unknown type ends the socket once', () => {
  const { socket, losses } = open('opening');
  socket.receive({ type: 'connection_ack' });
  for (const type of ['ping', 'pong', 'unknown', 'unknown']) socket.receive({ type });
  expect([socket.closes, losses()]).toEqual([1, 1]);
});

test('a socket that opens after it was closed, as on Android, is closed again', () => {
  const { socket, transport } = open('opening');
  transport.close();
  expect(socket.closes).toBe(1);
  socket.dispatchEvent(new Event('open'));
  expect(socket.closes).toBe(2);
  expect(socket.sent).toEqual([]);
});

test('a request that is given up at the acknowledgement is not sent', () => {
  const { socket, transport } = open('acknowledgement', () => transport.close());
  socket.dispatchEvent(new Event('open'));
  socket.receive({ type: 'connection_ack' });
  expect(socket.sent).toMatchObject([{ type: 'connection_init' }]);
});
