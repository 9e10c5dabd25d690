import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openRaw } from '../end-to-end/chaos/raw-connection.ts';
import { TEST_CERTIFICATE } from '../support/certificate.ts';
import { describeWithHaproxy } from '../support/describe-with.ts';
import { inParallel } from '../support/in-parallel.ts';
import { CONFIGURATION, startHaproxy } from '../support/replicas.ts';
import { startPod } from './support/pod.ts';

/** Streams of one HTTP/2 connection. */
const STREAMS = 100;
const SILENT_CONNECTIONS = 260;
const NEW_CONNECTIONS = 20;

/** Starts a front proxy with TLS and HTTP/2 before a simulated replica, and returns the proxy's URL. */
type StartFront = (opened: AsyncDisposableStack) => Promise<string>;

/** The tests of a front proxy. */
function itProtectsReplicas(start: StartFront): void {
  /** Starts the front proxy. `connection` opens a connection to it. */
  async function openFront(opened: AsyncDisposableStack) {
    const url = await start(opened);
    const connection = () => {
      const session = connect(url, { rejectUnauthorized: false });
      opened.defer(() => session.destroy());
      return session;
    };
    return { url, connection };
  }

  async function ask(session: ClientHttp2Session, path: string, headers = {}) {
    const stream = session.request({ ':path': path, ...headers }).end();
    const [head] = await once(stream, 'response');
    return { status: head[':status'], retryAfter: head['retry-after'], body: await text(stream) };
  }

  /** Opens new connections one after another, and counts the answered ones. */
  async function countAnswered(connection: () => ClientHttp2Session) {
    const answers = await inParallel(NEW_CONNECTIONS, 1, async () => {
      const session = connection();
      const { status } = await ask(session, '/graphql');
      session.destroy();
      return status;
    });
    return answers.filter((status) => status === 200).length;
  }

  test('requests of an address are limited, except requests with credentials and probes', async () => {
    await using opened = new AsyncDisposableStack();
    const { connection } = await openFront(opened);
    let refused: Awaited<ReturnType<typeof ask>> | undefined;
    for (let batch = 0; batch < 100 && refused === undefined; batch += 1) {
      const session = connection();
      const answers = Array.from({ length: STREAMS }, () => ask(session, '/graphql'));
      refused = (await Promise.all(answers)).find(({ status }) => status !== 200);
    }
    expect(refused).toMatchObject({ status: 429, retryAfter: expect.stringMatching(/^\d+$/) });
    expect(JSON.parse(refused?.body ?? '')).toMatchObject({
      errors: [{ extensions: { code: 'RATE_LIMITED', retryable: true } }],
    });
    const session = connection();
    const withCredentials = { authorization: 'Bearer any' };
    expect(await ask(session, '/graphql', withCredentials)).toMatchObject({
      status: 200,
      body: 'pod',
    });
    expect(await ask(session, '/health/live')).toMatchObject({ status: 200, body: 'pod' });
  });

  test('requests whose bodies never arrive occupy no connection to a replica', async () => {
    await using opened = new AsyncDisposableStack();
    const { connection } = await openFront(opened);
    let answered = 0;
    for (let client = 0; client < 4; client += 1) {
      const session = connection();
      for (let n = 0; n < STREAMS; n += 1) {
        const stream = session.request({ ':method': 'POST', ':path': '/', 'content-length': '9' });
        stream.on('error', () => {}).on('response', () => (answered += 1));
        stream.write('{');
      }
      await once(session, 'remoteSettings');
      expect(session.remoteSettings.maxConcurrentStreams).toBeGreaterThanOrEqual(STREAMS);
    }
    // Other requests are answered.
    expect(await countAnswered(connection)).toBe(NEW_CONNECTIONS);
    expect(answered).toBe(0);
  });

  test('silent connections do not delay other connections', async () => {
    await using opened = new AsyncDisposableStack();
    const { url, connection } = await openFront(opened);
    expect(await countAnswered(connection)).toBe(NEW_CONNECTIONS);
    const silent = await inParallel(SILENT_CONNECTIONS, 20, () => openRaw(url));
    for (const raw of silent) opened.use(raw);
    expect(await countAnswered(connection)).toBe(NEW_CONNECTIONS);
    expect(silent.filter(({ isClosed }) => isClosed)).toEqual([]);
  });
}

describeWithHaproxy('haproxy as it is shipped, with TLS and HTTP/2,', (path) =>
  itProtectsReplicas(async (opened) => {
    const environment = { REPLICA_1: await startPod(opened, 'pod'), CERTIFICATE: TEST_CERTIFICATE };
    const { url } = opened.use(await startHaproxy(path, CONFIGURATION, environment));
    return url.replace('http', 'https');
  }),
);
