import { expect } from 'vitest';
import type { Client } from '../../src/create-client.ts';
import type { Environment } from '../../src/environment.ts';
import type { OrderInput } from '../../src/orders/order-input.ts';
import { timeOfKey } from '../../src/orders/order-key.ts';
import type { OrderOutcome } from '../../src/orders/outcome.ts';
import type { ResumedOrder } from '../../src/orders/resumed-order.ts';
import type { Ticket } from '../../src/orders/ticket.ts';
import type { Result } from '../../src/result.ts';
import { type Fake, fakeClient } from '../../src/testing/fake-client.ts';
import type { FakeNetwork, FakeRequest, FakeSubscription } from '../../src/testing/fake-network.ts';

/** An event (`do`), or an expectation about what the client then does or shows (`must`). */
export type Step = Readonly<Record<string, unknown>> & {
  readonly do?: string;
  readonly must?: string;
};

export interface Case {
  readonly name: string;
  readonly rule: string;
  /** The client uses this in place of a random number. */
  readonly random?: number;
  readonly heartbeatSeconds?: number;
  /** Whether the platform may send a request twice, as browsers do. */
  readonly resends?: boolean;
  /** Optional features of a client. */
  readonly needs?: readonly string[];
  readonly steps: readonly Step[];
}

interface Tap {
  readonly ticket: Ticket;
  readonly atMs: number;
  /** The progress that was reported, without repeats. */
  readonly words: string[];
  outcome: OrderOutcome | null;
}

const MINUTE_MS = 60_000;
/** An outcome that has been reported for this time counts as shown to the user. */
const SHOWN_MS = 1_000;
/** The tolerance of times that follow an answer's `Date`, which has no milliseconds. */
const DATE_MS = 1_000;
/** The requests about an order, by a part of their documents. `placed`, not `place`, only asks for the outcome. */
const SENT = { place: /order: place(?!d)/, void: /order: void/, ask: /order: placed/ } as const;

/** Runs one case with the TypeScript client. */
export class CaseRun {
  #steps = 0;
  readonly #fake: Fake;
  readonly #event: object;
  #client: Client;
  /** The subscriptions, connections and requests that earlier steps have expected. */
  #subscribed = 0;
  #tried = 0;
  readonly #met = new Set<FakeRequest>();
  /** The keys of orders, in the order in which they appear. Cases number them from 1. */
  readonly #keys: string[] = [];
  /** The request that the last expectation has met, and the answer in parts to it. */
  #open: FakeRequest | null = null;
  #stream: { write(text: string): void; end(): void } | null = null;
  readonly #taps: Tap[] = [];
  /** The answers to the app's own operations, by their names. */
  readonly #results = new Map<string, Result<unknown>>();
  #resumed: readonly ResumedOrder[] | null = null;
  #signedOut = 0;
  #leave: () => void = () => {};

  constructor(event: object, heartbeatSeconds: number, environment: Partial<Environment>) {
    const onSignedOut = () => {
      this.#signedOut += 1;
    };
    this.#fake = fakeClient({ client: { onSignedOut, environment, heartbeatSeconds } });
    this.#event = event;
    this.#client = this.#fake.client;
  }

  async play({ steps, random = 0.5 }: Case): Promise<void> {
    this.#network.random = random;
    for (const step of steps) await this.#step(step);
    await this.#end();
  }

  async #step(step: Step): Promise<void> {
    const name = step.do ?? step.must ?? '';
    const play = step.do === undefined ? this.#must[name] : this.#do[name];
    if (play === undefined) throw new Error(`There is no step ${name}.`);
    this.#steps += 1;
    try {
      await play(step);
      await this.#pass(0);
    } catch (error) {
      const place = `Step ${this.#steps}, ${JSON.stringify(step)}`;
      throw new Error(`${place}: ${(error as Error).message}`);
    }
  }

  async #end(): Promise<void> {
    this.#client.dispose();
    await this.#pass(0);
    expect(this.#network.pending, 'tasks, connections and listeners that are left').toBe(0);
  }

  readonly #do: Readonly<Record<string, (step: Step) => unknown>> = {
    follow: ({ list }) => {
      this.#leave = this.#client[list as 'positions' | 'account'](() => {});
    },
    leave: () => this.#leave(),
    event: ({ event, line }) => {
      const { subscriptions } = this.#fake.market;
      // Cases count subscriptions from 1. By default the last expected subscription gets the event.
      const number = typeof line === 'number' ? line : this.#subscribed;
      this.#send(subscriptions[number - 1], { ...this.#event, ...Object(event) });
    },
    complete: ({ errors }) => this.#last.end(errors as readonly object[] | undefined),
    cut: ({ code }) => this.#last.cut(code as number | undefined),
    wait: ({ ms }) => this.#pass(ms as number),
    handshakes: ({ as }) => Object.assign(this.#network, { handshake: as }),
    network: ({ is }) => {
      if (is === 'back') this.#network.comeBack('online');
      else Object.assign(this.#network, { reach: is });
    },
    platform: ({ online }) => Object.assign(this.#network, { isOnline: online }),
    app: ({ is }) => (is === 'hidden' ? this.#network.hide() : this.#network.comeBack()),
    clock: (step) => Object.assign(this.#network, { deviceAheadMs: step.aheadMs }),
    store: ({ as }) => Object.assign(this.#network, { store: as }),
    token: ({ ends, renewal }) => {
      if (ends === undefined) Object.assign(this.#fake.market, { renewal });
      else return this.#fake.market.endToken(renewal as 'another' | undefined);
    },
    renew: () => this.#fake.market.renew(),
    'sign in': async ({ login }) => {
      await this.#fake.market.signIn(login as string | null);
      await this.#client.tokenChanged();
    },
    query: ({ name }) => this.#sendOwn(String(name), 'query'),
    mutate: ({ name }) => this.#sendOwn(String(name), 'mutate'),
    answer: ({ with: answer }) => this.#answer(this.#open, answer),
    part: ({ part }) => {
      this.#stream ??= this.#open?.stream('multipart/mixed; boundary="-"') ?? null;
      // Two hyphens and the boundary, which is a hyphen too, separate the parts.
      this.#stream?.write(`---\r\n\r\n${JSON.stringify(part)}\r\n---`);
      if (Object(part).hasNext === false) this.#stream?.end();
    },
    tap: (step) => this.#tap(step),
    kill: () => {
      this.#network.kill();
      this.#resumed = null;
    },
    start: () => {
      this.#client = this.#fake.open();
    },
    resume: () => {
      const found = (orders: readonly ResumedOrder[]) => {
        this.#resumed = orders;
      };
      this.#client.orders.resume().then(found, () => {});
    },
    forget: ({ key }) => this.#resumedBy(key).forget(),
  };

  readonly #must: Readonly<Record<string, (step: Step) => unknown>> = {
    subscribe: async ({ after, token, list, ...step }) => {
      const { subscriptions } = this.#fake.market;
      await this.#within(step, () => subscriptions.length > this.#subscribed);
      const last = this.#last;
      this.#subscribed = subscriptions.length;
      this.#tried = this.#network.tried;
      if (after !== undefined) expect(last.variables.after, 'after').toBe(after);
      if (token !== undefined) expect(last.token).toBe(`token-${token}`);
      if (list !== undefined) expect(last.query).toContain(`${list}Changes`);
    },
    try: async (step) => {
      await this.#within(step, () => this.#network.tried > this.#tried);
      this.#tried = this.#network.tried;
    },
    rest: async ({ ms }) => {
      const count = () => [this.#network.tried, this.#unmet(/./).length];
      const before = count();
      await this.#pass(ms as number);
      expect(count(), 'connections and requests').toEqual(before);
    },
    show: ({ must: _, list = 'positions', ...shown }) => this.#expectState(String(list), shown),
    query: (step) => this.#request(new RegExp(`\\b${step.name}\\b`), step),
    place: (step) => this.#order('place', step),
    void: (step) => this.#order('void', step),
    ask: (step) => this.#order('ask', step),
    tell: async ({ name, data, code }) => {
      const result = this.#results.get(String(name));
      if (data !== undefined) expect(result?.data).toEqual(data);
      expect(result?.errors[0]?.code).toBe(code);
    },
    end: async ({ tap = this.#taps.length, status, code, ...step }) => {
      const tapped = this.#tapOf(tap);
      await this.#within({ withinMs: 0, ...step }, () => tapped.outcome !== null);
      this.#expectOutcome(tapped.outcome, status, code);
    },
    wait: ({ tap = this.#taps.length }) => expect(this.#tapOf(tap).outcome).toBeNull(),
    say: ({ tap = this.#taps.length, words }) => expect(this.#tapOf(tap).words).toEqual(words),
    keep: async ({ keys }) => {
      const kept = () => this.#kept().sort().join();
      // An order that has ended is stored until it counts as shown.
      await this.#pass(SHOWN_MS, () => kept() === String(keys));
      expect(kept()).toBe(String(keys));
    },
    resumed: async ({ orders, ...step }) => {
      await this.#within({ withinMs: MINUTE_MS, ...step }, () => this.#resumed !== null);
      const found = this.#resumed ?? [];
      expect(found.length).toBe((orders as readonly Step[]).length);
      for (const { key, status, code, settled = false } of orders as readonly Step[]) {
        this.#expectOutcome(this.#resumedBy(key).outcome, status, code);
        expect(this.#resumedBy(key).settled).toBe(settled);
      }
    },
    renewals: ({ times }) => expect(this.#fake.market.renewals).toBe(times),
    'be signed out': () => expect(this.#signedOut).toBe(1),
  };

  get #network(): FakeNetwork {
    return this.#fake.market.network;
  }

  get #last(): FakeSubscription {
    const last = this.#fake.market.subscriptions.at(-1);
    if (last === undefined) throw new Error('There is no subscription.');
    return last;
  }

  #kept(): number[] {
    const stored = [...this.#network.texts.keys()].filter((name) => name.startsWith('orders/'));
    return stored.map((name) => this.#keyNumber(name.replace(/.*\//, '')));
  }

  #pass(ms: number, isOver?: () => boolean): Promise<boolean> {
    return this.#network.time.pass(ms, isOver);
  }

  /** Waits until the condition holds, for at most a minute by default. It must not hold before `atLeastMs` have passed. */
  async #within({ withinMs = MINUTE_MS, atLeastMs = 0 }: Step, isOver: () => boolean) {
    const { time } = this.#network;
    const beganMs = time.uptimeMs;
    expect(await this.#pass(withinMs as number, isOver), 'it happens in time').toBe(true);
    expect(time.uptimeMs - beganMs).toBeGreaterThanOrEqual(atLeastMs as number);
  }

  #send(subscription: FakeSubscription | undefined, event: Step): void {
    const { positions, ...common } = event;
    const isAccount = subscription?.query.includes('accountChanges') === true;
    const { upserted, closed, ticks, ...rest } = common;
    const lists = { positions: positions ?? { upserted, closed, ticks } };
    const data = isAccount
      ? { accountChanges: { orders: null, session: null, ...rest, ...lists } }
      : { positionChanges: event };
    subscription?.next({ data, ...(event.errors !== undefined && { errors: event.errors }) });
  }

  #expectState(list: string, { rows, asOf, error, ...shown }: Step): void {
    const state = this.#client[list as 'positions' | 'account'].state();
    // An unknown list is null, which the cases write as a list without rows.
    const positions = state.positions ?? [];
    if (rows !== undefined) expect(positions).toMatchObject(rows as object);
    if (rows !== undefined) expect(positions.length).toBe((rows as object[]).length);
    if (asOf !== undefined) expect(state.asOf?.toISOString() ?? null).toBe(asOf);
    if (error !== undefined) expect(state.error?.code ?? null).toBe(error);
    expect(state).toMatchObject(shown);
  }

  /** Sends an operation of the app. */
  #sendOwn(name: string, kind: 'query' | 'mutate'): void {
    const operation = `${kind === 'query' ? 'query' : 'mutation'} ${name} { ${name} }`;
    this.#results.delete(name);
    const onPart = (soFar: Result<unknown>) => this.#results.set(name, soFar);
    void this.#client[kind](operation, undefined, { onPart }).then((result) =>
      this.#results.set(name, result),
    );
  }

  /** The waiting requests that no earlier step has expected. */
  #unmet(query: RegExp): readonly FakeRequest[] {
    return this.#fake.market.waiting.filter(
      (request) => !this.#met.has(request) && query.test(request.query),
    );
  }

  async #request(query: RegExp, { token, answer, after, ...step }: Step) {
    await this.#within(step, () => this.#unmet(query).length > 0);
    const request = this.#unmet(query)[0] as FakeRequest;
    this.#met.add(request);
    this.#open = request;
    this.#stream = null;
    if (token !== undefined) expect(request.token).toBe(`token-${token}`);
    if (after !== undefined) expect(request.variables.after).toBe(after);
    if (answer !== undefined) this.#answer(request, answer);
    return request;
  }

  async #order(kind: keyof typeof SENT, { key, sendBefore, keyTime, answer, ...step }: Step) {
    const { variables } = await this.#request(SENT[kind], { ...step });
    const input = Object(variables.input) as Step;
    const sentKey = String(variables.key ?? input.idempotencyKey);
    expect(this.#keyNumber(sentKey), 'the key').toBe(key);
    const timeMs = timeOfKey(sentKey) ?? Number.NaN;
    expect(timeMs, 'the time of the key').toBeLessThanOrEqual(this.#network.serverMs);
    const tapMs = this.#taps.at(-1)?.atMs ?? 0;
    /** The wanted time counts from the tap. */
    const expectNear = (sentMs: number, wanted: unknown) => {
      if (wanted === undefined) return;
      const ms = sentMs - tapMs;
      expect(ms).toBeLessThanOrEqual(wanted as number);
      expect(ms).toBeGreaterThanOrEqual((wanted as number) - DATE_MS);
    };
    expectNear(Date.parse(String(input.sendBefore)), sendBefore);
    expectNear(timeMs, keyTime);
    if (answer !== undefined) this.#answer(this.#open, answer);
  }

  /** Answers like the service, or like a proxy. */
  #answer(request: FakeRequest | null, answer: unknown): void {
    const { error, status, data, missing, ...outcome } = Object(answer) as Step;
    if (answer === 'lost') request?.lose();
    else if (answer === 'page') request?.text('<html>Welcome</html>');
    else if (status !== undefined) request?.text('Bad gateway', { status: Number(status) });
    else if (error !== undefined) {
      const { message, ...extensions } = Object(error);
      request?.fail({ retryable: false, ...extensions }, message);
    } else if (data !== undefined) request?.answer({ data });
    else if (answer !== 'none' && request !== null) {
      const { input, key = Object(input).idempotencyKey } = request.variables;
      const order = missing === undefined ? { ...answerOf(outcome, String(key)) } : null;
      request.answer({ data: { order } });
    }
  }

  #tap({ tap, waitMs, withinMs, units = 1, limit, key }: Step): void {
    const before = tap === undefined ? undefined : this.#tapOf(tap).ticket;
    const resumed = key === undefined ? undefined : this.#resumedBy(key).ticket;
    const maxWaitMs = waitMs === undefined ? {} : { maxWaitMs: waitMs as number };
    const ticket = before ?? resumed ?? this.#client.orders.ticket(maxWaitMs);
    const own: Tap = { ticket, atMs: this.#network.serverMs, words: [], outcome: null };
    this.#taps.push(own);
    const options = {
      onProgress(word: string) {
        if (own.words.at(-1) !== word) own.words.push(word);
      },
      ...(withinMs !== undefined && { withinMs: withinMs as number }),
    };
    const input = { symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { units } } as OrderInput;
    const placing =
      limit === undefined
        ? ticket.place(input, options)
        : ticket.placeLimit({ symbol: 'AAPL', side: 'BUY', amount: 50, price: 10 }, options);
    void placing.then((outcome) => {
      own.outcome = outcome;
    });
  }

  /** A tap by its number, from 1 on. */
  #tapOf(tap: unknown): Tap {
    return this.#taps[(tap as number) - 1] as Tap;
  }

  #expectOutcome(outcome: unknown, status: unknown, code: unknown): void {
    const { status: own, error } = Object(outcome);
    expect(own).toBe(status);
    if (code !== undefined) expect(error?.code ?? error ?? null).toBe(code);
  }

  #resumedBy(key: unknown): ResumedOrder {
    const wanted = this.#keys[(key as number) - 1];
    const found = this.#resumed?.find(({ idempotencyKey }) => idempotencyKey === wanted);
    if (found === undefined) throw new Error('`resume` has not found that order.');
    return found;
  }

  /** Keys are numbered in the order in which they appear. */
  #keyNumber(key: string): number {
    if (!this.#keys.includes(key)) this.#keys.push(key);
    return this.#keys.indexOf(key) + 1;
  }
}

/** An order's outcome as the service answers it. */
function answerOf({ accepted, rejected, unsent, other }: Step, key: string): object {
  const own = { idempotencyKey: other ? 'another' : key, message: null, replayed: false };
  if (accepted !== undefined) return { ...own, __typename: 'OrderAccepted', orderId: accepted };
  if (rejected === undefined && unsent === undefined)
    return { ...own, __typename: 'OrderOutcomeUnknown', sentAt: new Date(0).toISOString() };
  const sent = unsent === undefined;
  return {
    ...own,
    __typename: 'OrderRejected',
    sent,
    error: rejected ?? 'not sent',
    reason: unsent ?? null,
  };
}
