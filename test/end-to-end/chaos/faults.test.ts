import { describe, expect, test } from 'vitest';
import type { Environment } from '../../../src/config.ts';
import { OPERATIONS, type OperationName } from '../../../src/gateway/operations.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { limited } from '../../support/limits.ts';
import { readinessOf } from '../../support/readiness.ts';
import { startedOnce } from '../../support/started.ts';
import { ASKS, type Ask, askFor } from './asks.ts';
import { type Storm, startStormyGateway } from './stormy-gateway.ts';

const FAULTS: readonly Storm[] = [
  { kind: 'delay', delayMs: 86_400_000 },
  { kind: 'cut' },
  { kind: 'drip', delayMs: 1_000 },
  { kind: 'reset-before' },
  { kind: 'reset-after' },
  { kind: 'hang' },
  { kind: 'refuse' },
];
/** They end with the deadline of a call alone. */
const SLOW: ReadonlySet<string> = new Set(['delay', 'drip', 'hang']);
const DEADLINES = {
  GATEWAY_TIMEOUT_MS: '2500',
  CATALOG_TIMEOUT_MS: '2500',
  ORDER_TIMEOUT_MS: '2800',
};
const GATEWAY = { seed: 'chaos', instruments: 50 };
type StormyGateway = Awaited<ReturnType<typeof startStormyGateway>>;

function startFacade({ url, sandbox }: StormyGateway, deadlines: Environment = {}) {
  const environment = { RATE_LIMIT_PER_MINUTE: '1000000', LOGIN_LIMIT_PER_MINUTE: '1000000' };
  return startTestApp(
    { ...environment, ...deadlines, GATEWAY_URL: url },
    {
      gateway: sandbox,
      limits: {
        ...limited('forgotPassword', 1e6),
        ...limited('resets', 1e6),
        ...limited('writes', 1e6),
      },
    },
  );
}

async function provedToken(app: TestApp, email = 'demo@example.com'): Promise<string> {
  const token = app.sandbox.token({ email });
  expect((await app.query('{ session { login } }', { token })).errors).toEqual([]);
  return token;
}

/** Returns the outcomes that the contract allows for an operation with this network fault. */
function expected({ operation }: Ask, kind: Storm['kind']): string {
  if (kind === 'refuse') return 'GATEWAY_UNAVAILABLE';
  if (OPERATIONS[operation].effect === 'order') return 'OrderOutcomeUnknown';
  // A sign-in changes no data, so like a read it has no unknown outcome.
  if (OPERATIONS[operation].effect === 'read' || operation === 'login') {
    return SLOW.has(kind) ? 'GATEWAY_TIMEOUT' : 'GATEWAY_UNAVAILABLE';
  }
  return 'OUTCOME_UNKNOWN';
}

const WELL: Readonly<Record<string, RegExp>> = {
  login: /^LoginSuccess$/,
  placeOrder: /^Order(Accepted|Rejected)$/,
  placeLimitOrder: /^Order(Accepted|Rejected)$/,
};

async function expectWell(app: TestApp, ask: Ask, token: string): Promise<void> {
  const well = WELL[ask.field] ?? /^(data|Acknowledged|Rejected)$/;
  expect(await askFor(app, ask, token), ask.operation).toMatch(well);
}

/** Sends all 15 concurrently. */
async function askForAll(app: TestApp, token: string): Promise<Record<OperationName, string>> {
  const said = await Promise.all(
    ASKS.map(async (ask) => [ask.operation, await askFor(app, ask, token)]),
  );
  return Object.fromEntries(said);
}

describe('each operation, failed by the network', () => {
  const gateway = startedOnce(() => startStormyGateway(GATEWAY));
  const app = startedOnce(() => startFacade(gateway));
  const impatient = startedOnce(() => startFacade(gateway, DEADLINES));

  test.each(FAULTS)(
    'with $kind, is answered as the contract says, by its deadline at the latest',
    async (fault) => {
      const asked = SLOW.has(fault.kind) ? impatient : app;
      const token = await provedToken(asked);
      gateway.sandbox.clearCalls();
      await gateway.begin(fault);
      const { sandbox } = gateway;
      try {
        const wanted = ASKS.map((ask) => [ask.operation, expected(ask, fault.kind)]);
        expect(await askForAll(asked, token)).toEqual(Object.fromEntries(wanted));
      } finally {
        await gateway.end();
      }
      if (fault.kind === 'refuse') return;
      for (const { operation } of ASKS)
        expect(sandbox.calls(operation), operation).toBeGreaterThan(0);
    },
  );
});

describe('after a storm over all accounts', () => {
  const EMAILS = ['demo@example.com', 'pro@example.com', 'fresh@example.com'];
  // The codes that any of the storms, and the breakers that they open, may lead to.
  const NAMED = /^(GATEWAY_UNAVAILABLE|GATEWAY_TIMEOUT|OUTCOME_UNKNOWN|OrderOutcomeUnknown)$/;

  // One that breaks, one that lasts until the deadline, one that never connects.
  const STORMS = [{ kind: 'cut' }, { kind: 'hang' }, { kind: 'refuse' }] as const;

  test.each(STORMS)(
    'of $kind each operation is served again by itself',
    async (fault) => {
      await using gateway = await startStormyGateway(GATEWAY);
      await using app = await startFacade(gateway, DEADLINES);
      const tokens = await Promise.all(EMAILS.map((email) => provedToken(app, email)));
      await gateway.begin(fault);
      try {
        for (let round = 0; round < 2; round += 1) {
          // Twice, so that each operation fails often enough for its breaker.
          const twice = [...tokens, ...tokens];
          const all = await Promise.all(twice.map((token) => askForAll(app, token)));
          for (const said of all.flatMap((each) => Object.values(each))) {
            expect(said).toMatch(NAMED);
          }
        }
        expect((await readinessOf(app.url)).status).toBe('degraded');
      } finally {
        await gateway.end();
      }
      const token = tokens[1] as string;
      await Promise.all(ASKS.map((ask) => eventually(() => expectWell(app, ask, token))));
      await eventually(async () => expect(await readinessOf(app.url)).toEqual({ status: 'ok' }));
      expect(app.logged.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
    },
    300_000,
  );
});
