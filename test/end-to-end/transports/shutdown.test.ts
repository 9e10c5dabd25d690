import { Agent } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { eventually } from '../../support/eventually.ts';
import { type FacadeProcess, startFacadeProcess } from '../../support/facade-process.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { startedOnce } from '../../support/started.ts';
import { stepUntil } from '../../support/steps.ts';
import { initializedSocket } from '../live/raw-socket.ts';

const GRACE_MS = 30_000;
/** The requests of one client while the service shuts down. */
const MAX_REQUESTS = 10_000;
const HTTP_CLIENTS = 12;
const WEB_SOCKET_CLIENTS = 4;

const sandbox = startedOnce(() => startSandbox({ seed: 'shutdown', tickMs: 0 }));
let tokens: readonly string[];
beforeAll(() => {
  // The service joins equal reads of one token, so each client has its own token.
  tokens = Array.from({ length: HTTP_CLIENTS + WEB_SOCKET_CLIENTS }, (_, index) =>
    sandbox.token({ email: `user-${index + 1}@example.com` }),
  );
});

function startFacade(environment = {}): Promise<FacadeProcess> {
  return startFacadeProcess({
    GATEWAY_URL: sandbox.url,
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
    // With this delay some calls are always in flight.
    sandbox.fail({ operation: 'getCustomerId', kind: 'delay', delayMs: 20 });
    const clients = tokens.map((token, index) => {
      const tally: Tally = { answered: 0, lost: [] };
      const ask = index < HTTP_CLIENTS ? askOverHttp : askOverWebSocket;
      return { tally, done: ask(facade, token, tally) };
    });
    await eventually(() => clients.every(({ tally }) => tally.answered >= 3));
    facade.signal('SIGTERM');
    expect(await facade.ended()).toBe(0);
    // A request without an end would use up the grace period.
    expect(facade.logged.join()).not.toContain('grace period elapsed');
    await Promise.all(clients.map(({ done }) => done));
    expect(clients.flatMap(({ tally }) => tally.lost)).toEqual([]);
    // Each executed request was answered.
    const answered = clients.reduce((sum, { tally }) => sum + tally.answered, 0);
    expect(sandbox.calls('getCustomerId')).toBe(answered);
  });

  test('reports not ready first, while it still serves', async () => {
    await using facade = await startFacade({ SHUTDOWN_DELAY_MS: '5000' });
    sandbox.clearFaults();
    expect((await rawRequest(`${facade.url}/health/ready`)).status).toBe(200);
    facade.signal('SIGTERM');
    // npm repeats a signal from a terminal, so the service must ignore a second signal.
    facade.signal('SIGINT');
    await eventually(async () => {
      const ready = await rawRequest(`${facade.url}/health/ready`);
      return ready.status === 503;
    });
    const atAdmin = await rawRequest(`${facade.adminUrl}/health/ready`);
    expect(atAdmin.status).toBe(503);
    expect(atAdmin.headers['cache-control']).toBe('no-store');
    const live = await rawRequest(`${facade.url}/health/live`);
    expect(live.status).toBe(200);
    const answer = await post(facade.url, tokens[0] ?? '');
    expect(JSON.parse(answer.text).data).toEqual({ customerId: 'cus_800001' });
    // This header makes a client with a keep-alive connection send its next request to another replica.
    expect(answer.headers.connection).toBe('close');
    expect(await facade.ended()).toBe(0);
    expect(facade.logged.filter((line) => line.includes('"msg":"draining"'))).toHaveLength(1);
    await expect(rawRequest(`${facade.url}/health/live`)).rejects.toThrow();
  });
});

function post(url: string, token: string, agent?: Agent) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const body = JSON.stringify({ query: '{ customerId }' });
  return rawRequest(`${url}/graphql`, { method: 'POST', headers, body, ...(agent && { agent }) });
}

interface Tally {
  answered: number;
  /** Wrong answers, and sent requests without an answer. */
  readonly lost: string[];
}

/** Asks again and again, until `ask` returns null because the service has closed the connection. */
async function askUntilClosed(tally: Tally, ask: () => Promise<string | null>): Promise<void> {
  let answer: string | null = '';
  const again = async () => {
    answer = await ask();
    if (answer === null) return;
    tally.answered += 1;
    if (!answer.includes('"cus_800')) tally.lost.push(answer);
  };
  await stepUntil(() => answer === null, again, MAX_REQUESTS);
}

/** Sends one request after another on a keep-alive connection, like an app's HTTP client. */
async function askOverHttp({ url }: FacadeProcess, token: string, tally: Tally): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await askUntilClosed(tally, async () => {
    try {
      return (await post(url, token, agent)).text;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      // The port or the idle connection was closed before the request was sent. HTTP clients repeat such a request.
      const isUnsent = code === 'ECONNREFUSED' || (code === 'ECONNRESET' && message !== 'aborted');
      if (!isUnsent) tally.lost.push(String(error));
      return null;
    }
  });
  agent.destroy();
}

/** Sends one operation after another on a socket, until the server has closed it. */
async function askOverWebSocket(facade: FacadeProcess, token: string, tally: Tally): Promise<void> {
  using raw = await initializedSocket(facade, token);
  let id = 0;
  await askUntilClosed(tally, async () => {
    id += 1;
    raw.subscribe(`${id}`, '{ customerId }');
    const isComplete = () => raw.messagesOf(`${id}`).some(({ type }) => type === 'complete');
    await eventually(() => isComplete() || raw.closed !== null);
    return isComplete() ? JSON.stringify(raw.messagesOf(`${id}`)[0]) : null;
  });
  // 1012 is the code for a restart, and 1001 is the code for a server that goes away.
  const { code } = await raw.untilClosed();
  if (code !== 1012 && code !== 1001) tally.lost.push(`closed with ${code}`);
}
