import fc from 'fast-check';
import { systemClock } from '../../../lib/clock.ts';
import type { PublicError } from '../../../test/support/app.ts';
import type { OrderAnswer } from '../../src/orders/outcome.ts';
import type { FakeRequest } from '../../src/testing/fake-network.ts';
import type { CaseRun, Step } from './case-run.ts';
import { type OrderService, redated } from './order-service.ts';

/** Whether a request whose answer is lost has come to the service, or comes there behind later ones. */
type Arrival = 'now' | 'later' | 'never';
type Move = readonly [string, unknown?, Arrival?];

const HOUR_MS = 3_600_000;
/** An order at a price is meant for so long. */
const LONGEST_MS = 23 * HOUR_MS;
/** Two requests about an order are less apart, and a search ends within the other. */
const [PAUSE_MS, SEARCH_MS] = [15_000, 70_000];
const MAX_REQUESTS = 50;
const MINUTE_MS = 60_000;
const ENDS = /accepted|rejected|unsent/;
const UNEXPLAINED = 'an order is left open without a reason';
/** The gateway's behaviour for the next order: it carries out the first, and says so of none. */
const GATEWAY = [
  { kind: 'status', status: 500, apply: true },
  { kind: 'status', status: 504 },
  { kind: 'status', status: 422 },
] as const;
const LOSSES: readonly unknown[] = ['lost', 'none', 'page', { status: 502 }];
const ARRIVALS = ['now', 'later', 'never'] as const;

const STEPS: readonly Step[] = [
  ...[100, 1_000, 6_000, 40_000].map((ms) => ({ do: 'wait', ms })),
  ...[HOUR_MS, -HOUR_MS].map((aheadMs) => ({ do: 'clock', aheadMs })),
  ...['works', 'refuses', 'silence'].map((as) => ({ do: 'store', as })),
  ...['gone', 'there'].map((is) => ({ do: 'network', is })),
  ...[false, true].map((online) => ({ do: 'platform', online })),
  { do: 'token', ends: true, renewal: 'another' },
];

const move = fc.oneof(
  fc.tuple(fc.constant('lose'), fc.constantFrom(...LOSSES), fc.constantFrom(...ARRIVALS)),
  fc.tuple(fc.constantFrom('answer', 'answer', 'tap', 'deliver')),
  fc.tuple(fc.constant('step'), fc.constantFrom(...STEPS)),
  fc.oneof(
    fc.tuple(fc.constant('kill'), fc.constantFrom(0, 6_000)),
    fc.tuple(fc.constant('gateway'), fc.constantFrom(...GATEWAY)),
  ),
);

/** The steps of a user's order, or of more where it is tapped again. */
export const orderHistories = fc.record({
  order: fc.constantFrom<Step>({ waitMs: 5_000 }, { waitMs: 20_000 }, { limit: true }),
  moves: fc.array<Move>(move, { minLength: 1, maxLength: 20, size: '+1' }),
});

let users = 0;

/** Plays it with the answers of the built service: what the client says of each order is what the gateway's book has. */
export async function playOrders(
  run: CaseRun,
  { sandbox, facade }: OrderService,
  { order, moves }: { readonly order: Step; readonly moves: readonly Move[] },
): Promise<void> {
  const { network } = run;
  // A user of its own, whom nothing of another history meets.
  users += 1;
  const login = 800_000 + users;
  const email = `user-${users}@example.com`;
  const token = sandbox.token({ email });
  const beganMs = systemClock.date();
  const late: (() => Promise<unknown>)[] = [];
  /** The keys of all orders that left, and of those of the present ticket. */
  const placed = new Set<string>();
  let ticket: { readonly tap: number; readonly keys: string[] } | null = null;
  /** The service's last word about a key, and the last that the app was told. */
  const said = new Map<string, string>();
  const told = new Map<string, string>();
  const heard = new Set<unknown>();
  let [tapsBefore, firstTap, resumedMs, offlineMs] = [0, 0, 0, Number.POSITIVE_INFINITY];

  const ask = async ({ query, variables }: FakeRequest): Promise<Step> => {
    const realDate = (ms: number) =>
      new Date(Math.max(beganMs, ms - network.serverMs + systemClock.date()));
    const sent = JSON.parse(redated(JSON.stringify(variables), realDate));
    const key = keyOf(sent);
    if (sent.input !== undefined) sent.input.comment = `${email} ${key}`;
    const { data, errors } = await facade.query(query, { token, variables: sent });
    const answer = answerOf(data?.order, errors?.[0]);
    said.set(key, Object.keys(answer).join());
    return answer;
  };

  /** The next request about an order; without a loss it is answered. */
  const meet = async (ms: number, loss?: unknown, arrival: Arrival = 'now'): Promise<boolean> => {
    const request = await run.nextOrder(ms);
    if (request === undefined) return false;
    const key = keyOf(request.variables);
    const [, must = 'ask'] = /order: (place|void)(?!d)/.exec(request.query) ?? [];
    const wrong = must === 'place' && leaves(key, request);
    const answer = loss === undefined || arrival === 'now' ? await ask(request) : null;
    if (loss !== undefined && arrival === 'later') late.push(() => ask(request));
    const meant = {
      place: { sendBefore: order.waitMs ?? LONGEST_MS, keyMade: 0 },
      void: { since: 0 },
    };
    // They count from the last tap, where that was the key's first.
    const isDated = run.taps.length === firstTap && key === run.taps.at(-1)?.ticket.idempotencyKey;
    const dates = isDated ? Object(meant)[must] : {};
    await run.step({ must, key: run.keyNumber(key), ...dates, answer: loss ?? answer });
    claim(!wrong, String(wrong));
    return true;
  };

  const ownTicket = () => (ticket ? run.taps[ticket.tap - 1]?.ticket : undefined);
  const leaves = (key: string, { sentMs, variables }: FakeRequest) => {
    const isFirst = !placed.has(key);
    const isOpen = (each: string) => each !== key && told.get(each) !== 'unsent';
    const isOfTicket = key === ownTicket()?.idempotencyKey;
    const isKept = [...network.texts.keys()].some((name) => name.endsWith(`/${key}`));
    const untilMs = Date.parse(String(Object(variables.input).sendBefore));
    placed.add(key);
    const isSecond = isOfTicket && ticket?.keys.some(isOpen);
    if (isOfTicket) ticket?.keys.push(key);
    if (isFirst && sentMs > offlineMs) return 'an order leaves an offline device';
    if (isSecond) return 'a ticket becomes two orders';
    if (sentMs > untilMs) return 'an order leaves after its time';
    return isKept ? null : 'an order leaves whose key is not kept';
  };

  const check = (key: string, status: string) => {
    const times = sandbox.orders().filter(({ comment }) => comment === `${email} ${key}`).length;
    const [least, most] = { accepted: [1, 1], rejected: [0, 0], unsent: [0, 0] }[status] ?? [0, 1];
    const isTrue = times >= Number(least) && times <= Number(most);
    claim(isTrue, `an order is ${status}, and was carried out ${times} times`);
    told.set(key, status);
  };
  const hear = () => {
    for (const each of [...run.taps, ...(run.resumed ?? [])]) {
      const { ticket: own, outcome } = each;
      if (outcome === null || heard.has(each)) continue;
      heard.add(each);
      const { idempotencyKey: key = own.idempotencyKey } = Object(outcome);
      check(key, outcome.status);
      const taps = run.taps.filter((tap) => tap.outcome === outcome);
      const lastedMs = (atMs: number) => network.serverMs - atMs;
      const isOver = taps.length
        ? taps.some(({ atMs }) => lastedMs(atMs) >= MINUTE_MS)
        : lastedMs(resumedMs) >= MINUTE_MS / 2;
      // A clock that is set ahead looks like the sleep of a phone.
      const isExcused = isOver || run.renewals > 1 || run.played.some(isOfClock);
      const isUnknown = outcome.status === 'unknown' && said.get(key) !== 'unknown';
      claim(!isUnknown || isExcused, UNEXPLAINED);
    }
  };

  const nextRun = async (afterMs: number) => {
    await run.step({ do: 'kill' });
    if (afterMs > 0) await run.step({ do: 'wait', ms: afterMs });
    await run.step({ do: 'start' });
    resumedMs = network.serverMs;
    await run.step({ do: 'resume' });
    ticket = null;
    tapsBefore = run.taps.length;
  };
  const settle = async () => {
    let requests = 0;
    while (await meet(SEARCH_MS)) claim(requests++ < MAX_REQUESTS, 'the client asks without end');
    hear();
    const isOpen = run.taps.slice(tapsBefore).some(({ outcome }) => outcome === null);
    claim(!isOpen, 'an order has no end');
  };

  const plays: Readonly<Record<string, (value: unknown, arrival?: Arrival) => unknown>> = {
    tap: async () => {
      const found = run.resumed?.find(({ outcome }) => outcome.status === 'unknown');
      const own = ownTicket() ?? found?.ticket;
      // Earlier words were said of its last tap.
      if (own !== undefined) told.delete(own.idempotencyKey);
      const again = ticket
        ? { tap: ticket.tap }
        : found && { key: run.keyNumber(found.idempotencyKey) };
      ticket ??= { tap: run.taps.length + 1, keys: [] };
      await run.step({ do: 'tap', ...again, ...order });
      if (again === undefined) firstTap = run.taps.length;
    },
    answer: () => meet(PAUSE_MS),
    lose: (loss, arrival) => meet(PAUSE_MS, loss, arrival),
    deliver: async () => {
      for (const arrive of late.splice(0)) await arrive();
    },
    kill: (afterMs) => nextRun(afterMs as number),
    gateway: (fault) => {
      const operation = order.limit ? 'placeLimitOrder' : 'openPosition';
      sandbox.fail({ ...(fault as (typeof GATEWAY)[0]), operation, login, times: 1 });
    },
    step: async (value) => {
      const step = value as Step;
      await run.step(step);
      if (step.do !== 'platform') return;
      offlineMs = step.online ? Number.POSITIVE_INFINITY : Math.min(offlineMs, network.serverMs);
      await run.step({ do: 'wait', ms: 1 });
    },
  };

  for (const [name, ...values] of [['tap'], ...moves] as readonly Move[]) {
    await plays[name]?.(...(values as [unknown, Arrival?]));
    hear();
  }
  if (network.store !== 'works') await run.step({ do: 'store', as: 'works' });
  if (network.reach !== 'there') await run.step({ do: 'network', is: 'there' });
  if (!network.isOnline) await run.step({ do: 'platform', online: true });
  await settle();
  const last = run.taps.at(-1)?.outcome;
  if (last) await run.step({ must: 'end', status: last.status });
  await nextRun(2 * PAUSE_MS);
  await settle();
  const found = run.resumed ?? [];
  for (const { idempotencyKey: key, outcome } of found) {
    const { status } = outcome;
    const isUnknown = status === 'unknown' && said.get(key) === 'unknown';
    claim(isUnknown || ENDS.test(status), UNEXPLAINED);
  }
  const isFound = (key: string) => found.some(({ idempotencyKey }) => idempotencyKey === key);
  const isLost = (key: string) => !isFound(key) && !ENDS.test(told.get(key) ?? '');
  claim(![...placed].some(isLost), 'an order is lost');
  await plays.deliver?.(null);
  for (const [key, status] of told) check(key, status);
  const endedTokens = run.played.filter((step) => step.do === 'token').length;
  claim(run.renewals <= endedTokens, 'a token is renewed without a reason');
  const numbered = found.map(({ idempotencyKey, outcome, settled }) => ({
    key: run.keyNumber(idempotencyKey),
    status: outcome.status,
    settled,
  }));
  await run.step({ must: 'resumed', orders: numbered });
  const kept = numbered.filter(({ status }) => !ENDS.test(status));
  await run.step({ must: 'keep', keys: kept.map(({ key }) => key).sort() });
  await run.end();
}

const isOfClock = (step: Step) => step.do === 'clock';

function claim(holds: unknown, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

function keyOf({ key, input }: Step): string {
  return String(key ?? Object(input).idempotencyKey);
}

/** An answer of the service, as the vectors say it. */
function answerOf(order: OrderAnswer['order'] | undefined, error: PublicError | undefined): Step {
  if (error) return { error: { ...error.extensions, message: error.message } };
  if (!order) return { missing: true };
  if (order.__typename === 'OrderAccepted') return { accepted: '77' };
  if (order.__typename === 'OrderOutcomeUnknown') return { unknown: true };
  return order.sent ? { rejected: order.error } : { unsent: order.error };
}
