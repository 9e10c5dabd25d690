import { expect, test } from 'vitest';
import { SocketLine } from '../../src/subscribe/socket-line.ts';
import { countedEnvironment } from '../support/counted-environment.ts';

/** A WebSocket on which the test is the server. */
class ScriptedSocket extends EventTarget {
  readonly sent: unknown[] = [];
  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }
  close(): void {}
  say(message: object): void {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(message) }));
  }
}

test.each(['error', 'complete'])(
  'a request that ends by %s before the acknowledgement is not sent after it',
  (type) => {
    const socket = new ScriptedSocket();
    const environment = countedEnvironment();
    const line = new SocketLine({
      environment,
      WebSocket: class {
        constructor() {
          // biome-ignore lint/correctness/noConstructorReturn: it stands for the platform's class
          return socket;
        }
      } as unknown as typeof WebSocket,
      url: 'http://127.0.0.1:9/graphql',
      token: 'token',
      heartbeatMs: 15_000,
      events: { acknowledged() {}, lost() {} },
      onSlow() {},
    });
    let ends = 0;
    line.start({ document: { query: '{ a }' }, variables: {} }, { next() {}, ended: () => ends++ });
    socket.say({ id: '1', type, ...(type === 'error' && { payload: [{ message: 'no' }] }) });
    socket.say({ type: 'connection_ack' });
    expect(ends).toBe(1);
    expect(socket.sent).toEqual([]);
    line.close();
    expect(environment.timers.size).toBe(0);
  },
);
