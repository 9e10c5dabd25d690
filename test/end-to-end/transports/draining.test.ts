import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { rawPost } from '../../support/raw-request.ts';
import { openRaw } from '../chaos/raw-connection.ts';
import { postOf } from '../limits/slow-reader.ts';
import { initializedSocket } from '../live/raw-socket.ts';
import { seriesValue } from '../operations/scraped.ts';

const tokenOf = ({ sandbox }: TestApp) => sandbox.token({ email: 'demo@example.com' });

/** Returns the whole text of an event stream, when it has ended. */
async function ask(app: TestApp, query: string): Promise<string> {
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${tokenOf(app)}` };
  const { text } = await rawPost(`${app.url}/graphql`, JSON.stringify({ query }), headers);
  return text;
}

test('a shutdown completes the event stream of a query, but does not wait for that of a new subscription', async () => {
  const app = await startTestApp();
  // The subscription first waits for the proof of its token.
  app.sandbox.fail({ operation: 'getSession', kind: 'delay', delayMs: 600 });
  app.sandbox.fail({ operation: 'getCustomerId', kind: 'delay', delayMs: 600 });
  const subscription = ask(app, 'subscription { positions { id } }').catch(() => 'cut off');
  const answer = ask(app, '{ customerId }');
  await eventually(() => app.sandbox.calls('getSession') > 0);
  await eventually(() => expect(app.sandbox.calls('getCustomerId')).toBe(1));
  await app.close();
  expect(app.logged.join()).not.toContain('grace period elapsed');
  await subscription;
  expect(await answer).toContain('"customerId":"cus_700001"');
  expect(await answer).toContain('event: complete');
});

test('a request that is pipelined behind an answer in parts is answered in a shutdown', async () => {
  const app = await startTestApp();
  app.sandbox.fail({ operation: 'getCustomerId', kind: 'delay', delayMs: 600 });
  const token = tokenOf(app);
  const headers = { accept: 'multipart/mixed' };
  using raw = await openRaw(app.url);
  raw.socket.write(postOf('{ __typename ... @defer { customerId } }', { token, headers }));
  await eventually(() => expect(raw.received).toContain('"hasNext":true'));
  raw.socket.write(postOf('mutation { setValue(input: { key: "k" }) { __typename } }', { token }));
  await app.close();
  await eventually(() => expect(raw.isClosed).toBe(true));
  expect(raw.received).toMatch(/connection: close\r\n[\s\S]*"setValue":/);
});

test('a shutdown closes unused connections, one of a refused body included, but answers a request that has partly arrived', async () => {
  const app = await startTestApp();
  // The answer precedes most of the body.
  const headers = { 'content-type': 'application/json' };
  const tooLarge = { method: 'POST', headers, body: ' '.repeat(1_100_000) };
  expect((await fetch(`${app.url}/graphql`, tooLarge)).status).toBe(413);
  using unused = await openRaw(app.url);
  using partial = await openRaw(app.url);
  partial.socket.write('GET /health/live HTTP/1.1\r\nhost:');
  await eventually(async () =>
    expect(await seriesValue(app, 'receive_buffer_bytes')).toBeGreaterThan(0),
  );
  const closing = app.close();
  await eventually(() => expect(unused.isClosed).toBe(true));
  partial.socket.write('facade\r\n\r\n');
  await closing;
  await eventually(() => expect(partial.received).toContain('{"status":"ok"}'));
  expect(app.logged.join()).not.toContain('grace period elapsed');
});

test('an operation that is sent while its socket closes is either answered or not executed', async () => {
  for (let time = 0; time < 5; time += 1) {
    const app = await startTestApp();
    const raw = await initializedSocket(app, tokenOf(app));
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'delay', delayMs: 30 });
    raw.subscribe('read', '{ customerId }');
    await eventually(() => expect(app.sandbox.calls('getCustomerId')).toBe(1));
    raw.socket.on('message', (data) => {
      const { id, type } = JSON.parse(String(data));
      const isReadCompleted = id === 'read' && type === 'complete';
      if (!isReadCompleted) return;
      // The server sends its close frame while this message is on its way.
      raw.subscribe('write', 'mutation { setValue(input: { key: "k" }) { __typename } }');
    });
    await Promise.all([app.close(), raw.untilClosed()]);
    const isAnswered = (id: string) => raw.messagesOf(id).some(({ type }) => type === 'next');
    expect(isAnswered('read')).toBe(true);
    expect(app.sandbox.calls('setValue')).toBe(isAnswered('write') ? 1 : 0);
  }
});

test('a shutdown does not wait for a request longer than the grace period', async () => {
  const app = await startTestApp({ SHUTDOWN_GRACE_MS: '500', ORDER_TIMEOUT_MS: '400' });
  app.sandbox.fail({ operation: 'getCustomerId', kind: 'delay', delayMs: 600_000 });
  const raw = await initializedSocket(app, tokenOf(app));
  raw.subscribe('1', '{ customerId }');
  const answer = ask(app, '{ customerId }').catch(() => 'cut off');
  await eventually(() => expect(app.sandbox.calls('getCustomerId')).toBe(2));
  await app.close();
  // The gateway answers neither request before the grace period ends.
  expect(await answer).toBe('cut off');
  await raw.untilClosed();
  expect(raw.messagesOf('1')).toEqual([]);
  expect(app.logged.join()).toContain('grace period elapsed');
});
