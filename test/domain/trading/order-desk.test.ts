import { describe, expect, test } from 'vitest';
import { TooManyAttemptsError } from '../../../src/domain/auth/trading-limits.ts';
import type { DomainMetrics } from '../../../src/domain/domain-metrics.ts';
import { createOrderDesk } from '../../../src/domain/trading/order-desk.ts';
import { UnprovedOrderError } from '../../../src/domain/trading/order-errors.ts';
import { orderLines } from '../../../src/domain/trading/order-line.ts';
import { GatewayError, type GatewayErrorKind } from '../../../src/gateway/gateway-error.ts';
import { InputError } from '../../../src/lib/public-error.ts';
import { AccountRecordsFullError, RecordsUnavailableError } from '../../../src/store/refusals.ts';
import { keyOf } from '../../support/order-keys.ts';
import { answered, demo, demoProof, last, stage, ticketOf, unanswered } from './order-stage.ts';

const gatewayError = (kind: GatewayErrorKind) =>
  new GatewayError(kind, 'getSession', 'scripted', { status: 503, retryAfterSeconds: 7 });
const full = new AccountRecordsFullError({ max: 1 }, false);

/** An order desk whose prover, limits and records fail as the test specifies, with its counters and log. */
function openDesk(failing: { prover?: Error; limits?: Error; records?: Error } = {}) {
  const counted: string[] = [];
  /** One entry for each error after which it is unknown whether an earlier request sent the order. */
  const doubts: string[] = [];
  const failWith = (error: Error | undefined) => error && Promise.reject(error);
  const { orders, calls, clock, log } = stage((shared) => ({
    reserve: (request) => failWith(failing.records) ?? shared.reserve(request),
    voidKey: (key) => failWith(failing.records) ?? shared.voidKey(key),
  }));
  const desk = createOrderDesk(
    orders,
    {
      account: () => failWith(failing.prover) ?? Promise.resolve(demoProof),
      contact: () => Promise.reject(new Error('the clock is measured')),
    },
    { order: (_proof, send) => failWith(failing.limits) ?? send() },
    {
      orders: { inc: ({ outcome }: { outcome: string }) => counted.push(outcome) },
      doubts: { inc: () => doubts.push('earlier') },
    } as unknown as Pick<DomainMetrics, 'orders' | 'doubts'>,
    log,
    orderLines(null),
  );
  return { desk, calls, clock, counted, doubts, lines: log.lines };
}

test.each([
  ['no answer', unanswered],
  ['a success without a body', answered(200)],
  ['a conflict', answered(409)],
])('an order that ends unknown is logged once: %s', async (_, exchange) => {
  const { desk, calls, clock, counted, doubts, lines } = openDesk();
  const placed = desk.place(demo, ticketOf('k'));
  await clock.advance(0);
  last(calls).end(exchange);
  await placed;
  await desk.place(demo, ticketOf('k'));
  await desk.placed(demo, keyOf('k'));
  await desk.void(demo, keyOf('k'));
  expect(doubts).toEqual([]);
  expect(counted).toEqual(['unknown']);
  expect(lines).toEqual(['an order ended unknown']);
});

describe('an unsent order', () => {
  test.each<[string, Parameters<typeof openDesk>[0], boolean]>([
    ['a refused token', { prover: gatewayError('unauthenticated') }, false],
    ['a bug of the service', { prover: new TypeError('a mistake of ours') }, true],
    ['a limit', { limits: new TooManyAttemptsError(1, 'orders') }, false],
    ['an input that is refused late', { records: new InputError('input', 'is wrong') }, false],
    ['an account with too many records', { records: full }, false],
    ['records that are away', { records: new RecordsUnavailableError('away') }, true],
  ])('fails with the original error: %s (%o)', async (_, failing, isCounted) => {
    const { desk, counted, doubts } = openDesk(failing);
    const [error] = Object.values(failing ?? {});
    await expect(desk.place(demo, ticketOf('k'))).rejects.toBe(error);
    // Only the records could tell whether an earlier request sent the order.
    const areRecordsAway = error?.message === 'away';
    expect(doubts).toEqual(areRecordsAway ? ['earlier'] : []);
    expect(counted).toEqual(isCounted ? ['unsent'] : []);
  });

  test('of an unproved token fails with UnprovedOrderError and its cause', async () => {
    const cause = gatewayError('timeout');
    const { desk, counted, doubts } = openDesk({ prover: cause });
    const common = { kind: 'unavailable', status: 503, retryAfterSeconds: 7, cause };
    const error = await desk.place(demo, ticketOf('k')).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnprovedOrderError);
    expect(error).toMatchObject({ ...common, operation: 'openPosition' });
    const query = desk.placed(demo, keyOf('k'));
    await expect(query).rejects.toMatchObject({ ...common, operation: 'getSession' });
    expect(counted).toEqual(['unsent']);
    expect(doubts).toEqual(['earlier', 'earlier']);
  });
});
