import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type ClientHttp2Session, connect } from 'node:http2';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openRaw } from '../end-to-end/chaos/raw-connection.ts';
import { TEST_CERTIFICATE } from '../support/certificate.ts';
import { describeWithHaproxy } from '../support/describe-with.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-ports.ts';
import { inParallel } from '../support/in-parallel.ts';
import { CONFIGURATION, startHaproxy } from '../support/replicas.ts';
import { readProject } from './support/files.ts';
import { startPod } from './support/pod.ts';

/** The shell commands of the runbook. */
const COMMANDS = [
  ...readProject('docs', 'on-call.md').matchAll(/^echo '([^']+)'\s+\| socat - (\S+)/gm),
].map(([, command = '', socket = '']) => ({ command, socket }));

/** The bytes of a DNS message before its question. */
const HEADER_BYTES = 12;

/** Streams of one HTTP/2 connection. */
const STREAMS = 100;
const SILENT_CONNECTIONS = 260;
const NEW_CONNECTIONS = 20;

/** Starts a name server that returns these addresses for every name. */
async function startNameServer(opened: AsyncDisposableStack, addresses: readonly string[]) {
  const port = await freePort();
  const server = createSocket('udp4', (query, client) => {
    // The question is a name that ends with a zero byte, then two bytes of type and two of class.
    const nameEnd = query.indexOf(0, HEADER_BYTES) + 1;
    const isTypeA = query.readUInt16BE(nameEnd) === 1;
    const found = isTypeA ? addresses : [];
    const question = query.subarray(HEADER_BYTES, nameEnd + 4);
    const header = Buffer.from(query.subarray(0, HEADER_BYTES));
    // A response without error, and the numbers of its answers, authorities and additional records.
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(found.length, 6);
    header.writeUInt16BE(0, 8);
    header.writeUInt16BE(0, 10);
    const answers = found.map((address) =>
      // The question's name, type A, class IN, a TTL of one second, four bytes.
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split('.').map(Number)]),
    );
    server.send(Buffer.concat([header, question, ...answers]), client.port, client.address);
  });
  await new Promise<void>((resolve) => server.bind(port, '127.0.0.1', resolve));
  opened.defer(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return `127.0.0.1:${port}`;
}

async function startFront(haproxyPath: string, environment: Record<string, string>) {
  const opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'trading-graph-haproxy-'));
  opened.defer(() => rm(folder, { recursive: true }));
  const socket = join(folder, 'trading-graph.sock');
  const statsPort = await freePort();
  const { url } = opened.use(
    await startHaproxy(haproxyPath, CONFIGURATION, {
      ...environment,
      STATS_SOCKET: socket,
      STATS_BIND: `127.0.0.1:${statsPort}`,
    }),
  );
  const execute = (command: string) => text(createConnection(socket).end(`${command}\n`));
  /** The names of the replicas that answer this many requests. */
  const answering = async (requests: number) => {
    const answers = Array.from({ length: requests }, async () => (await fetch(url)).text());
    return [...new Set(await Promise.all(answers))].sort();
  };
  const metrics = async () => (await fetch(`http://127.0.0.1:${statsPort}/metrics`)).text();
  return { execute, answering, metrics, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

describeWithHaproxy('haproxy as it is shipped', (haproxyPath) => {
  test('drains and restores a replica by the commands of the runbook, and exports its state', async () => {
    await using opened = new AsyncDisposableStack();
    await using front = await startFront(haproxyPath, {
      REPLICA_1: await startPod(opened, 'one'),
      REPLICA_2: await startPod(opened, 'two'),
    });
    const { execute, answering, metrics } = front;
    await eventually(async () => expect(await answering(30)).toEqual(['one', 'two']));
    const [drain = '', count = '', ready = ''] = COMMANDS.map(({ command }) => command);
    // An empty answer means that the command succeeded.
    expect(await execute(drain)).toBe('\n');
    expect(await answering(30)).toEqual(['two']);
    expect(await metrics()).toMatch(
      /haproxy_server_status\{proxy="replicas",server="replica-1",state="DRAIN"\} 1/,
    );
    expect(await execute(count)).toMatch(/^replicas\/replica-1 .*/m);
    expect(await execute(ready)).toBe('\n');
    await eventually(async () => expect(await answering(30)).toEqual(['one', 'two']));
    expect(await metrics()).toMatch(/^haproxy_backend_active_servers\{proxy="replicas"\} 2$/m);
    expect(new Set(COMMANDS.map(({ socket }) => socket)).size).toBe(1);
  });

  test('closes new connections only of an address that has too many open or opens too many', async () => {
    await using opened = new AsyncDisposableStack();
    const bounds = { SOURCE_CONNECTIONS: '3', SOURCE_RATE: '6' };
    const environment = { REPLICA_1: await startPod(opened, 'pod'), ...bounds };
    const { url } = opened.use(await startHaproxy(haproxyPath, CONFIGURATION, environment));
    /** A connection that has been answered; null if it is refused. */
    const connected = async (address: string) => {
      const raw = await openRaw(url, address).catch(() => null);
      raw?.socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
      await eventually(() => raw === null || raw.isClosed || raw.received.includes('pod'));
      if (raw !== null) opened.use(raw);
      return raw?.received ? raw : null;
    };
    const results = [];
    for (let n = 0; n < 4; n += 1) results.push(await connected('127.0.1.2'));
    expect(results.map((raw) => raw !== null)).toEqual([true, true, true, false]);
    expect(await connected('127.0.1.3')).not.toBeNull();
    // Once these connections are closed the address may connect again, but at most six times within ten seconds.
    for (const raw of results) raw?.socket.destroy();
    for (let n = 0; n < 4; n += 1) {
      const next = await connected('127.0.1.2');
      next?.socket.destroy();
      results.push(next);
    }
    expect(results.at(-1)).toBeNull();
    expect(await connected('127.0.1.3')).not.toBeNull();
  });

  test('marks a replica as down only by its health checks', () => {
    const settings = readProject('deploy', 'haproxy', 'haproxy.cfg');
    expect(settings).toMatch(/default-server check .* on-error fastinter$/m);
  });

  test('finds up to 32 replicas by one name, including later ones', async () => {
    await using opened = new AsyncDisposableStack();
    const port = await freePort();
    const addresses = ['127.0.0.2', '127.0.0.3'];
    for (const host of [...addresses, '127.0.0.4']) {
      await startPod(opened, host, { host, port });
    }
    const nameServer = await startNameServer(opened, addresses);
    await using front = await startFront(haproxyPath, {
      REPLICAS: `replicas.test:${port}`,
      RESOLVER: nameServer,
    });
    await eventually(async () =>
      expect(await front.answering(40)).toEqual(['127.0.0.2', '127.0.0.3']),
    );
    addresses.push('127.0.0.4');
    await eventually(async () => expect(await front.answering(40)).toContain('127.0.0.4'));
    const servers = (await front.metrics()).match(/^haproxy_server_weight\{proxy="replicas"/gm);
    expect(servers).toHaveLength(32);
  });
});

describeWithHaproxy('haproxy as it is shipped, with TLS and HTTP/2,', (path) => {
  /** Starts the proxy before a simulated replica. `connection` opens a connection to it. */
  async function openFront(opened: AsyncDisposableStack) {
    const environment = { REPLICA_1: await startPod(opened, 'pod'), CERTIFICATE: TEST_CERTIFICATE };
    const { url: plainUrl } = opened.use(await startHaproxy(path, CONFIGURATION, environment));
    const url = plainUrl.replace('http', 'https');
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
});
