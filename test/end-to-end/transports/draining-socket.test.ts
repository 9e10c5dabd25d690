import { once } from 'node:events';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';

interface Message {
  readonly id?: string;
  readonly type: string;
}

async function connect(app: TestApp) {
  const socket = new WebSocket(app.webSocketUrl, 'graphql-transport-ws');
  const received: Message[] = [];
  socket.on('message', (data) => received.push(JSON.parse(String(data))));
  await once(socket, 'open');
  const send = (message: object) => socket.send(JSON.stringify(message));
  const authorization = `Bearer ${app.sandbox.token({ email: 'demo@example.com' })}`;
  send({ type: 'connection_init', payload: { authorization } });
  await eventually(() => received.some(({ type }) => type === 'connection_ack'));
  const subscribe = (id: string, query: string) =>
    send({ id, type: 'subscribe', payload: { query } });
  const isAnswered = (id: string) =>
    received.some((message) => message.type === 'next' && message.id === id);
  return { socket, subscribe, isAnswered };
}

test('an operation sent while the socket is being closed is answered, or not begun', async () => {
  for (let time = 0; time < 5; time += 1) {
    const app = await startTestApp();
    const { socket, subscribe, isAnswered } = await connect(app);
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'delay', delayMs: 30 });
    socket.on('message', (data) => {
      const { id, type } = JSON.parse(String(data)) as Message;
      // The close frame crosses this message on the wire.
      if (type !== 'complete' || id !== 'read') return;
      subscribe('write', 'mutation { setValue(input: { key: "k" }) { __typename } }');
    });
    subscribe('read', '{ customerId }');
    await eventually(() => app.sandbox.calls('getCustomerId') === 1);
    const closed = once(socket, 'close');
    await Promise.all([app.close(), closed]);
    expect(isAnswered('read')).toBe(true);
    expect(app.sandbox.calls('setValue')).toBe(isAnswered('write') ? 1 : 0);
  }
});
