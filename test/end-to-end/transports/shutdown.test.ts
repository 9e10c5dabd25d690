import { Agent, request as httpRequest } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import { eventually } from '../../support/eventually.ts';
import { type FacadeProcess, startFacadeProcess } from '../../support/facade-process.ts';
import { rawPost, rawRequest } from '../../support/raw-request.ts';
import { startedOnce } from '../../support/started.ts';
import { stepUntil } from '../../support/steps.ts';
import { initializedSocket } from '../live/raw-socket.ts';

const GRACE_MS = 30_000;
/** Of one client, while the service is told to end and does. */
const MOST_REQUESTS = 10_000;

const sandbox = startedOnce(() => startSandbox({ seed: 'shutdown', tickMs: 0 }));
let token: string;
beforeAll(() => {
  token = sandbox.token({ email: 'demo@example.com' });
});

function startFacade(environment = {}): Promise<FacadeProcess> {
  return startFacadeProcess({
    GATEWAY_URL: sandbox.url,
    ORDER_STORE: 'memory',
    RATE_LIMIT_PER_MINUTE: '1000000',
    SHUTDOWN_GRACE_MS: String(GRACE_MS),
    ...environment,
  });
}

describe('SIGTERM', () => {
  test('under load loses no request, over HTTP or over a WebSocket', async () => {
    await using facade = await startFacade();
    sandbox.clearFaults();
    sandbox.clearCalls();
    // Long enough that some are always in flight.
    sandbox.fail({ operation: 'getCustomerId', kind: 'delay', delayMs: 20 });
    const clients = [
      ...Array.from({ length: 12 }, () => askOverHttp(facade.url)),
      ...Array.from({ length: 4 }, () => askOverWebSocket(facade.webSocketUrl)),
    ];
    await eventually(() => clients.every(({ answered }) => answered >= 3));
    facade.signal('SIGTERM');
    expect(await facade.ended()).toBe(0);
    // A request that never ends would use it up.
    expect(facade.logged.join()).not.toContain('the time to drain is over');
    await Promise.all(clients.map(({ done }) => done));
    expect(clients.flatMap(({ lost }) => lost)).toEqual([]);
    // Whatever was executed was answered.
    const answered = clients.reduce((sum, client) => sum + client.answered, 0);
    expect(sandbox.calls('getCustomerId')).toBe(answered);
  });

  test('reports not ready first, while it still serves', async () => {
    await using facade = await startFacade({ SHUTDOWN_DELAY_MS: '5000' });
    sandbox.clearFaults();
    expect((await rawRequest(`${facade.url}/health/ready`)).status).toBe(200);
    facade.signal('SIGTERM');
    await eventually(async () => {
      const ready = await rawRequest(`${facade.url}/health/ready`);
      return ready.status === 503;
    });
    const atAdmin = await rawRequest(`${facade.adminUrl}/health/ready`);
    expect([atAdmin.status, atAdmin.headers['cache-control']]).toEqual([503, 'no-store']);
    const live = await rawRequest(`${facade.url}/health/live`);
    expect(live.status).toBe(200);
    const answer = await post(facade.url, '{ customerId }');
    expect(JSON.parse(answer.text).data).toEqual({ customerId: 'cus_700001' });
    // A client with a keep-alive connection sends its next request elsewhere.
    expect(answer.headers.connection).toBe('close');
    expect(await facade.ended()).toBe(0);
    await expect(rawRequest(`${facade.url}/health/live`)).rejects.toThrow();
  });
});

function post(url: string, query: string) {
  return rawPost(`${url}/graphql`, JSON.stringify({ query }), { authorization: `Bearer ${token}` });
}

interface Asking {
  readonly answered: number;
  /** Counts requests that were sent and received no answer, or a wrong one. */
  readonly lost: readonly string[];
  /** Resolves when the server accepts no more. */
  readonly done: Promise<void>;
}

/** Asks again for as long as there are answers. */
async function untilLeft(ask: () => Promise<string>): Promise<void> {
  let last = 'answered';
  const again = async () => {
    last = await ask();
  };
  await stepUntil(() => last !== 'answered', again, MOST_REQUESTS);
}

/** Sends one request after the other on a keep-alive connection, as an app's HTTP client does. */
function askOverHttp(url: string): Asking {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const asking = { answered: 0, lost: [] as string[] };
  const ask = () =>
    new Promise<'refused' | 'answered'>((resolve) => {
      const outgoing = httpRequest(`${url}/graphql`, {
        agent,
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      });
      outgoing.on('response', async (response) => {
        let text = '';
        response.setEncoding('utf8');
        try {
          for await (const chunk of response) text += chunk;
        } catch (error) {
          asking.lost.push(`cut: ${error}`);
        }
        if (!text.includes('"cus_700001"')) asking.lost.push(`${response.statusCode} ${text}`);
        asking.answered += 1;
        resolve('answered');
      });
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        // The port is closed; or the connection was, since a machine that is busy sent nothing on it for a while: HTTP
        // clients send again what found a kept connection closed.
        const isUnsent = outgoing.reusedSocket && error.code === 'ECONNRESET';
        if (error.code !== 'ECONNREFUSED' && !isUnsent)
          asking.lost.push(String(error.code ?? error));
        resolve('refused');
      });
      outgoing.end(JSON.stringify({ query: '{ customerId }' }));
    });
  const run = async () => {
    await untilLeft(ask);
    agent.destroy();
  };
  return Object.assign(asking, { done: run() });
}

/** One operation after the other on a socket, until the server has closed it. */
function askOverWebSocket(webSocketUrl: string): Asking {
  const asking = { answered: 0, lost: [] as string[] };
  const run = async () => {
    using raw = await initializedSocket({ webSocketUrl }, token);
    let id = 0;
    await untilLeft(async () => {
      id += 1;
      raw.subscribe(`${id}`, '{ customerId }');
      const messages = () => raw.of(`${id}`);
      const isComplete = () => messages().some(({ type }) => type === 'complete');
      await eventually(() => isComplete() || raw.closed !== null);
      if (!isComplete()) return 'closed';
      if (messages()[0]?.payload?.data?.customerId !== 'cus_700001') asking.lost.push('no answer');
      asking.answered += 1;
      return 'answered';
    });
    const { code } = await raw.close();
    if (code !== 1012 && code !== 1001) asking.lost.push(`closed with ${code}`);
  };
  return Object.assign(asking, { done: run() });
}
