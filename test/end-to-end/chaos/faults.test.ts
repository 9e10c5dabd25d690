import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS, type OperationName } from '../../../src/gateway/operations.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { type FaultProxy, type NetworkFault, startFaultProxy } from '../../support/fault-proxy.ts';
import { ASKS, type Ask, askFor, type Said } from './asks.ts';

const DEADLINE_MS = 2_500;
const ORDER_DEADLINE_MS = 2_800;
// Slack for a busy machine.
const SLACK_MS = 4_000;
// Six seconds, and slack for a busy machine.
const RECOVERS_WITHIN_MS = 6_000 + 3_000;

const FAULTS: readonly NetworkFault[] = [
  { kind: 'latency', ms: 8_000 },
  { kind: 'cut' },
  { kind: 'drip', everyMs: 50 },
  { kind: 'reset-before' },
  { kind: 'reset-after' },
  { kind: 'half-open' },
];

const ENVIRONMENT = {
  GATEWAY_TIMEOUT_MS: String(DEADLINE_MS),
  CATALOG_TIMEOUT_MS: String(DEADLINE_MS),
  ORDER_TIMEOUT_MS: String(ORDER_DEADLINE_MS),
  RATE_LIMIT_PER_MINUTE: '1000000',
  LOGIN_LIMIT_PER_MINUTE: '1000000',
};

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ seed: 'chaos', instruments: 50, tickMs: 0 });
});
afterAll(() => sandbox.close());

function startFacade({ url }: FaultProxy): Promise<TestApp> {
  return startTestApp({ ...ENVIRONMENT, GATEWAY_URL: url }, { gateway: sandbox });
}

async function provedToken(app: TestApp, email = 'demo@example.com'): Promise<string> {
  const token = sandbox.token({ email });
  expect((await app.query('{ session { login } }', { token })).errors).toEqual([]);
  return token;
}

/** Returns the outcomes that the contract allows for an operation with this network fault. */
function expected({ operation }: Ask, kind: NetworkFault['kind'] | 'refuse'): string {
  if (kind === 'refuse') return 'GATEWAY_UNAVAILABLE';
  const isSlow = ['latency', 'drip', 'half-open'].includes(kind);
  if (OPERATIONS[operation].effect === 'order') return 'OrderOutcomeUnknown';
  // A sign-in changes no data, so like a read it has no unknown outcome.
  if (OPERATIONS[operation].effect === 'read' || operation === 'login') {
    return isSlow ? 'GATEWAY_TIMEOUT' : 'GATEWAY_UNAVAILABLE';
  }
  return 'OUTCOME_UNKNOWN';
}

const WELL: Readonly<Record<string, RegExp>> = {
  login: /^LoginSuccess$/,
  placeOrder: /^Order(Accepted|Rejected)$/,
  placeLimitOrder: /^Order(Accepted|Rejected)$/,
};
const isWell = ({ field }: Ask, { said }: Said) =>
  (WELL[field] ?? /^(data|Acknowledged|Rejected)$/).test(said);

function deadlineOf({ operation }: Ask): number {
  return (OPERATIONS[operation].effect === 'order' ? ORDER_DEADLINE_MS : DEADLINE_MS) + SLACK_MS;
}

/** Sends all 15 concurrently. */
async function askForAll(
  app: TestApp,
  token: string,
  isTimed = true,
): Promise<Record<OperationName, string>> {
  const said = await Promise.all(
    ASKS.map(async (ask) => {
      const { said, ms } = await askFor(app, ask, token);
      const isLate = isTimed && ms > deadlineOf(ask);
      return [ask.operation, isLate ? `${said} after ${ms} ms` : said];
    }),
  );
  return Object.fromEntries(said);
}

describe('each operation, failed by the network', () => {
  let proxy: FaultProxy;
  let app: TestApp;
  beforeAll(async () => {
    proxy = await startFaultProxy(sandbox.url);
    app = await startFacade(proxy);
  });
  afterAll(async () => {
    await app.close();
    await proxy[Symbol.asyncDispose]();
  });

  test.each(FAULTS)(
    'with $kind, is answered as the contract says, within the deadline',
    async (fault) => {
      const token = await provedToken(app);
      const before = ASKS.map(({ operation }) => proxy.arrived(operation));
      proxy.fail('*', fault);
      try {
        const wanted = ASKS.map((ask) => [ask.operation, expected(ask, fault.kind)]);
        expect(await askForAll(app, token)).toEqual(Object.fromEntries(wanted));
      } finally {
        await proxy.heal();
      }
      for (const [at, { operation }] of ASKS.entries()) {
        expect(proxy.arrived(operation), operation).toBeGreaterThan(before[at] ?? 0);
      }
    },
  );

  test('without a connection, is known not to be carried out', async () => {
    const token = await provedToken(app);
    await proxy.refuse();
    try {
      const wanted = ASKS.map((ask) => [ask.operation, expected(ask, 'refuse')]);
      expect(await askForAll(app, token)).toEqual(Object.fromEntries(wanted));
    } finally {
      await proxy.heal();
    }
  });

  test('with a delay below the deadline, is answered', async () => {
    const token = await provedToken(app);
    proxy.fail('*', { kind: 'latency', ms: 200 });
    try {
      for (const ask of ASKS) {
        const said = await askFor(app, ask, token);
        expect(isWell(ask, said), `${ask.operation}: ${said.said}`).toBe(true);
      }
    } finally {
      await proxy.heal();
    }
  });
});

describe('after a storm over all accounts', () => {
  const EMAILS = ['demo@example.com', 'pro@example.com', 'fresh@example.com'];
  // The codes that any of the storms, and the breakers that they open, may lead to.
  const NAMED = /^(GATEWAY_UNAVAILABLE|GATEWAY_TIMEOUT|OUTCOME_UNKNOWN|OrderOutcomeUnknown)$/;

  test.each([...FAULTS, { kind: 'refuse' } as const])(
    'of $kind each operation is served again within 6 s',
    async (fault) => {
      await using proxy = await startFaultProxy(sandbox.url);
      await using app = await startFacade(proxy);
      const tokens = await Promise.all(EMAILS.map((email) => provedToken(app, email)));
      if (fault.kind === 'refuse') await proxy.refuse();
      else proxy.fail('*', fault);
      try {
        for (let round = 0; round < 2; round += 1) {
          // Three concurrent rounds, which may be more than a busy machine keeps up with.
          const all = await Promise.all(tokens.map((token) => askForAll(app, token, false)));
          for (const said of all.flatMap((each) => Object.values(each))) {
            expect(said).toMatch(NAMED);
          }
        }
        expect((await readiness(app)).status).toBe('degraded');
      } finally {
        await proxy.heal();
      }
      const healedAt = performance.now();
      const token = tokens[1] as string;
      await Promise.all(ASKS.map((ask) => untilWell(app, ask, token)));
      expect(performance.now() - healedAt).toBeLessThan(RECOVERS_WITHIN_MS);
      expect(await readiness(app)).toEqual({ status: 'ok' });
      expect(app.logged.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
    },
    120_000,
  );

  async function untilWell(app: TestApp, ask: Ask, token: string): Promise<void> {
    const giveUpAt = performance.now() + RECOVERS_WITHIN_MS;
    for (;;) {
      const said = await askFor(app, ask, token);
      if (isWell(ask, said)) return;
      if (performance.now() > giveUpAt) throw new Error(`${ask.operation}: ${said.said}`);
      await delay(150);
    }
  }

  async function readiness({ url }: TestApp): Promise<{ status: string }> {
    return (await fetch(`${url}/health/ready`)).json() as Promise<{ status: string }>;
  }
});
