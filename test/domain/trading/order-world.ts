import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { orderLines } from '../../../src/domain/trading/order-line.ts';
import { Orders } from '../../../src/domain/trading/orders.ts';
import type { OrderResult } from '../../../src/domain/trading/outcome.ts';
import { marketTicket } from '../../../src/domain/trading/ticket.ts';
import { NotAttemptedError } from '../../../src/gateway/errors.ts';
import type { Exchange } from '../../../src/gateway/exchange.ts';
import type { OrderEnd } from '../../../src/gateway/order-calls.ts';
import {
  type OrderRecord,
  type OrderRecords,
  RecordsUnavailableError,
} from '../../../src/store/order-records.ts';
import { OperatorFile } from '../../../src/store/sqlite/operator-records.ts';
import { openInlineOrderRecords } from '../../../src/store/sqlite/order-records.ts';
import { orderEnd } from '../../support/order-end.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { viewerOf } from '../viewer.ts';
import {
  acceptedAs,
  answered,
  countersOf,
  createTestLog,
  notSent,
  proofOf,
  unanswered,
} from './order-stage.ts';

/** The gateway's answers to an order. After `paused` and `denied` it has certainly not accepted the order. */
export type End = 'accepted' | 'rejected' | 'nothing' | 'paused' | 'denied';

/** A gateway call of a process for an order. */
export interface Call {
  readonly process: Process;
  readonly symbol: string;
  readonly sendBeforeMs: number | null;
  readonly end: (exchange: Exchange) => void;
  readonly endLate: (exchange: Exchange) => void;
  state: 'waiting' | 'sent' | 'timed out' | 'over';
  /** The logical time when it was sent; null before. */
  sentAt: number | null;
  as: End | null;
}

/** A request of a client, and its result: undefined while it waits, and if its process was killed. */
export interface Asked {
  readonly do: 'place' | 'void' | 'ask';
  readonly symbol: string;
  readonly beganAt: number;
  readonly process: Process;
  readonly generation: number;
  /** The logical time of its end; null while it waits, and if its process was killed. */
  endedAt: number | null;
  result: OrderResult | Error | null | undefined;
  /** Whether its process lived until everything was written. */
  wasWritten: boolean;
}

/** The history of one key of one account. */
export interface Story {
  readonly account: number;
  readonly key: string;
  madeAtMs: number | null;
  readonly asked: Asked[];
  readonly calls: Call[];
  /** Whether its record may be gone, by a data loss or by age. */
  isForgettable: boolean;
}

/** A process of the service. Each start creates new `records` and `orders`. */
export interface Process {
  readonly n: number;
  generation: number;
  life: { readonly records: OrderRecords; readonly orders: Orders } | null;
}

/** A request of a process that has not reached the records yet. */
interface Parked {
  readonly name: string;
  readonly process: Process;
  execute(): Promise<void>;
  deliver(): void;
  fail(): void;
}

type Action = readonly [name: string, run: () => void | Promise<void>];

const ORDER_TIMEOUT_MS = 2_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const MAX_WAITING = 5;
const DRAIN_ROUNDS = 3_000;
const SYMBOLS = ['AAPL', 'AAPL', 'AAPL', 'MSFT'];
const EXCHANGES: Readonly<Record<End, Exchange>> = {
  accepted: acceptedAs('o-1'),
  rejected: answered(422, { err: 'NO' }),
  nothing: answered(500),
  paused: answered(429),
  denied: answered(403),
};
const ENDS = Object.keys(EXCHANGES) as End[];

/** Two processes that share an order file and may be killed at any step, a gateway, clients, an operator, and a scripted clock. */
export class OrderWorld {
  readonly stories: Story[] = [];
  /** The names of the past actions. */
  readonly events: string[] = [];
  readonly #path: string;
  readonly #clock = createScriptedClock();
  readonly #processes: readonly Process[] = [0, 1].map((n) => ({ n, generation: 0, life: null }));
  readonly #viewers = ['1001', '2002'].map((login) => viewerOf(`token-${login}`, { login }));
  readonly #parked: Parked[] = [];
  #calls = 0;
  #instant = 0;
  #numbers = 0;
  /** The error of this machine's date. */
  #aheadMs = 0;
  #isHeld = false;

  constructor(folder: string) {
    this.#path = join(folder, 'orders.db');
    for (const process of this.#processes) this.#start(process);
  }

  /** The number of orders that were sent to the gateway. */
  get sent(): number {
    return this.#calls;
  }

  /** Runs one of the possible next actions: mostly progress of orders, sometimes a disturbance. */
  async step(choice: number): Promise<void> {
    const kinds = [
      ...thrice(this.#requests()),
      ...thrice(this.#parked.flatMap((request) => this.#endsOf(request))),
      ...thrice(this.#parked.flatMap((request) => this.#endsOf(request))),
      ...thrice(this.#allCalls().flatMap((call) => this.#nextOf(call))),
      this.#passing(),
      [...this.#livesAndDeaths(), ...this.#ofOperator()],
    ].filter(({ length }) => length > 0);
    const actions = kinds[choice % kinds.length] ?? [];
    const action = actions[Math.floor(choice / kinds.length) % actions.length];
    if (action === undefined) return;
    const [name, run] = action;
    this.events.push(name);
    await run();
    await nothingMoves();
  }

  /** Lets every request end, and returns the final records. */
  async finish(): Promise<(story: Story) => OrderRecord | null> {
    this.#isHeld = false;
    let isDrained = false;
    const drained = this.#processes.map(({ life }) => life?.orders.drain());
    Promise.all(drained).then(
      () => {
        isDrained = true;
      },
      () => {},
    );
    const survivors = new Map(this.#processes.map((each) => [each, each.generation]));
    for (let round = 0; round < DRAIN_ROUNDS; round += 1) {
      const [request] = this.#parked;
      const call = this.#living().find(({ state }) => isUnderWay(state));
      if (request) await this.#answer(request);
      else if (call?.state === 'waiting') this.#send(call);
      else if (call) this.#end(call, 'accepted');
      else if (this.#waiting().length > 0 || !isDrained) await this.#clock.advance(100);
      else break;
      await nothingMoves();
    }
    for (const process of this.#processes) this.#kill(process);
    if (!existsSync(this.#path)) return () => null;
    const operator = this.#openOperator();
    const records = new Map<Story, OrderRecord | null>();
    for (const story of this.stories) {
      records.set(story, await operator.find(this.#viewerOf(story).account, story.key));
    }
    operator.close();
    for (const { asked } of this.stories) {
      for (const each of asked) each.wasWritten = survivors.get(each.process) === each.generation;
    }
    return (story) => records.get(story) ?? null;
  }

  [Symbol.dispose](): void {
    for (const process of this.#processes) this.#kill(process);
    for (const each of ['', '.mark', '.copy', '.mark.copy', '-journal']) {
      rmSync(`${this.#path}${each}`, { force: true });
    }
  }

  #livesAndDeaths(): readonly Action[] {
    const living = this.#processes.filter(({ life }) => life !== null);
    const dead = this.#processes.filter(({ life }) => life === null);
    const starts = dead.map((each): Action => [`${each.n} starts`, () => this.#start(each)]);
    return [
      ...thrice(starts).flat(),
      ...living.flatMap((each): Action[] => [
        [`${each.n} is killed`, () => this.#kill(each)],
        [`${each.n} is killed after its writes`, () => this.#killAfterWrites(each)],
      ]),
      ...this.#losses(),
    ];
  }

  #requests(): readonly Action[] {
    if (this.#waiting().length >= MAX_WAITING) return [];
    const living = this.#processes.filter(({ life }) => life !== null);
    return living.flatMap((each) => this.#requestsOf(each));
  }

  #requestsOf(process: Process): readonly Action[] {
    const ask = (story: Story, kind: Asked['do'], symbol = '', limitMs?: number): Action => [
      `${process.n} is asked to ${kind} ${symbol} ${story.account} ${story.key} ${limitMs ?? ''}`,
      () => this.#ask(process, story, kind, symbol, limitMs),
    ];
    const repeated = this.stories
      .slice(-3)
      .flatMap((story) => [
        ...SYMBOLS.map((symbol) => ask(story, 'place', symbol)),
        ask(story, 'place', 'AAPL', 50),
        ask(story, 'void'),
        ask(story, 'ask'),
      ]);
    const first = [0, 0, 1].map((account): Action => {
      const key = `key ${Math.floor(this.stories.length / 2)}`;
      const begin = () => {
        const story = this.#storyOf(account, key);
        this.#ask(process, story, 'place', 'AAPL');
      };
      return [`${process.n} is asked for a new order ${account} ${key}`, begin];
    });
    return [...first, ...repeated];
  }

  #storyOf(account: number, key: string): Story {
    const known = this.stories.find((each) => each.key === key && each.account === account);
    if (known) return known;
    const story: Story = {
      account,
      key,
      madeAtMs: null,
      asked: [],
      calls: [],
      isForgettable: false,
    };
    this.stories.push(story);
    return story;
  }

  #ask(process: Process, story: Story, kind: Asked['do'], symbol = '', limitMs?: number): void {
    const { orders } = process.life ?? {};
    if (!orders) return;
    const viewer = this.#viewerOf(story);
    const proof = proofOf(viewer);
    // Uses the correct date, because a date that is wrong by hours would be refused.
    story.madeAtMs ??=
      this.#clock.date() - (Math.abs(this.#aheadMs) > MINUTE_MS ? this.#aheadMs : 0);
    const asked: Asked = {
      do: kind,
      symbol,
      process,
      generation: process.generation,
      beganAt: this.#next(),
      endedAt: null,
      result: undefined,
      wasWritten: false,
    };
    story.asked.push(asked);
    const end = (result: OrderResult | Error | null) => {
      if (process.generation !== asked.generation) return;
      asked.result = result;
      asked.endedAt = this.#next();
    };
    const ask = () => {
      if (kind === 'ask') return orders.placed(proof, story.key);
      if (kind === 'void') return orders.void(proof, story.key, story.madeAtMs);
      const ticket = marketTicket({
        symbol,
        side: 'BUY',
        kind: 'MARKET',
        size: { units: 1 },
        comment: String(this.stories.indexOf(story)),
        idempotencyKey: story.key,
        keyMade: story.madeAtMs,
        ...(limitMs !== undefined && { sendBefore: this.#clock.date() + limitMs }),
      });
      return orders.place(viewer, proof, ticket);
    };
    ask().then(end, end);
  }

  #endsOf(request: Parked): readonly Action[] {
    const { name } = request;
    const arrives: Action = [`${name} arrives`, () => this.#answer(request)];
    const fail = () => {
      this.#take(request);
      request.fail();
    };
    const lose = async () => {
      this.#take(request);
      await request.execute();
      request.fail();
    };
    return [...thrice(arrives), arrives, [`${name} fails`, fail], [`${name} has no answer`, lose]];
  }

  #nextOf(call: Call): readonly Action[] {
    const name = `a call of ${call.process.n}`;
    if (call.state === 'waiting') {
      const refuse = () => {
        call.state = 'over';
        call.end(notSent);
      };
      return [
        ...thrice<Action>([`${name} is sent`, () => this.#send(call)]),
        [`${name} cannot be sent`, refuse],
      ];
    }
    const ends = ENDS.map((as): Action => [`${name} is ${as}`, () => this.#end(call, as)]);
    if (call.state === 'sent') {
      const timeOut = () => {
        call.state = 'timed out';
        call.end(unanswered);
      };
      return [...ends, ...thrice<Action>([`${name} times out`, timeOut])];
    }
    return call.state === 'timed out' ? ends : [];
  }

  #passing(): readonly Action[] {
    const passes = (ms: number): Action => [`${ms} ms pass`, () => this.#clock.advance(ms)];
    const days = async () => {
      this.#forget();
      for (const call of this.#allCalls()) call.state = 'over';
      await this.#clock.advance(25 * HOUR_MS);
    };
    // No request takes a day, so days pass only when nothing is under way.
    const isQuiet =
      this.#parked.length === 0 &&
      this.#waiting().length === 0 &&
      this.#living().every(({ state }) => !isUnderWay(state));
    const jump = (ms: number): Action => [
      `the date is set by ${ms} ms`,
      () => {
        this.#clock.setDate(ms);
        this.#aheadMs += ms;
      },
    ];
    const isRight = this.#aheadMs === 0;
    const jumps = isRight ? [30_000, -30_000, 5 * HOUR_MS] : [-this.#aheadMs];
    return [
      ...[100, 51, 6_000, 90_000].map(passes),
      ...(isQuiet ? ([['days pass', days]] as const) : []),
      ...jumps.map(jump),
    ];
  }

  #ofOperator(): readonly Action[] {
    const hold: Action = [
      this.#isHeld ? 'orders are released' : 'orders are held',
      () => {
        this.#isHeld = !this.#isHeld;
      },
    ];
    const settle = (story: Story): Action => [
      `${story.account} ${story.key} is settled`,
      () => this.#settle(story),
    ];
    const settling = this.stories.slice(-3).map(settle);
    return this.#isHeld ? [...thrice(hold), ...settling] : [hold, ...settling];
  }

  #forget(): void {
    for (const story of this.stories) story.isForgettable = true;
  }

  /** An operator settles the order by what the gateway did. */
  async #settle(story: Story): Promise<void> {
    const { account } = this.#viewerOf(story);
    const settled = { by: 'jane', why: 'ticket', atMs: this.#clock.date() };
    const isAccepted = story.calls.some(({ as }) => as === 'accepted');
    const outcome = isAccepted
      ? ({ kind: 'accepted', orderId: null, message: null, settled } as const)
      : ({ kind: 'rejected', error: 'SETTLED', message: null, sent: false, settled } as const);
    if (!existsSync(this.#path)) return;
    // While a call is open, the gateway's answer is not known yet.
    if (story.calls.some(({ state, process }) => state !== 'over' && process.life !== null)) return;
    for (const call of story.calls) call.state = 'over';
    const operator = this.#openOperator();
    await operator.settle({ account, key: story.key, outcome });
    operator.close();
  }

  /** Copies the file, or restores an older copy in every possible combination while no process runs. */
  #losses(): readonly Action[] {
    const path = this.#path;
    const mark = `${path}.mark`;
    const copy = () => {
      copyFileSync(path, `${path}.copy`);
      copyFileSync(mark, `${mark}.copy`);
    };
    const putBack = () => copyFileSync(`${path}.copy`, path);
    const losses: Readonly<Record<string, () => void | Promise<void>>> = {
      'an older copy is put back': putBack,
      'an older copy is put back without a mark': () => {
        putBack();
        rmSync(mark);
      },
      'an older copy is put back with its mark, and an operator declares the loss': () => {
        putBack();
        copyFileSync(`${mark}.copy`, mark);
        return this.#declareIncomplete();
      },
      'the file is removed alone': () => rmSync(path),
    };
    // The loss of a file without records cannot be detected.
    if (!existsSync(path) || !existsSync(mark) || this.#calls === 0) return [];
    const lossesNow = Object.entries(losses).map(
      ([name, lose]): Action => [
        name,
        async () => {
          for (const process of this.#processes) this.#kill(process);
          this.#forget();
          await lose();
          return this.#clock.advance(1_000);
        },
      ],
    );
    return [['a copy is made', copy], ...(existsSync(`${mark}.copy`) ? lossesNow : [])];
  }

  async #declareIncomplete(): Promise<void> {
    const operator = this.#openOperator();
    await operator.declareIncomplete();
    operator.close();
  }

  #start(process: Process): void {
    process.generation += 1;
    const { generation } = process;
    const records = openInlineOrderRecords({
      path: this.#path,
      max: 100,
      clock: this.#clock,
      gatewaySkewMs: () => -this.#aheadMs,
      onWarn() {},
    });
    const orders = new Orders({
      clock: this.#clock,
      log: createTestLog(),
      orderTimeoutMs: ORDER_TIMEOUT_MS,
      orderNumbers: 'order',
      onAccountChanged() {},
      gatewayAheadMs: () =>
        Math.abs(this.#aheadMs) > MINUTE_MS || this.#aheadMs < 0 ? -this.#aheadMs : 0,
      gatewaySkewMs: () => -this.#aheadMs,
      lines: orderLines(null),
      metrics: countersOf(() => {}),
      records: this.#portOf(process, generation, records),
      gateway: {
        order: (_viewer, { order, sendBeforeMs }, endLate = () => {}) => {
          const { promise, resolve } = Promise.withResolvers<OrderEnd>();
          const { symbol, comment } = order;
          const call: Call = {
            process,
            symbol,
            sendBeforeMs,
            end: (exchange) => resolve(orderEnd(exchange)),
            endLate: (exchange) => endLate(orderEnd(exchange)),
            state: 'waiting',
            sentAt: null,
            as: null,
          };
          if (process.generation === generation) this.stories[Number(comment)]?.calls.push(call);
          return promise;
        },
      },
    });
    process.life = { records, orders };
  }

  #portOf(process: Process, generation: number, records: OrderRecords): OrderRecords {
    const far =
      <Args extends unknown[], T>(name: string, ask: (...args: Args) => Promise<T>) =>
      (...args: Args) =>
        new Promise<T>((resolve, reject) => {
          if (process.generation !== generation) return;
          let deliver = () => {};
          const execute = async () => {
            await ask(...args).then(
              (answer) => {
                deliver = () => resolve(answer);
              },
              (error) => {
                deliver = () => reject(error);
              },
            );
          };
          const fail = () => reject(new RecordsUnavailableError('no answer'));
          this.#parked.push({
            name: `${process.n} ${name}`,
            process,
            execute,
            deliver: () => deliver(),
            fail,
          });
        });
    const holdReason = () => (this.#isHeld ? 'held' : null);
    return {
      reserve: far('reserve', (request) => records.reserve(request)),
      settle: far('settle', (reservation, outcome, times) =>
        records.settle(reservation, outcome, times),
      ),
      release: far('release', (reservation) => records.release(reservation)),
      find: far('find', (account, key) => records.find(account, key)),
      voidKey: far('voidKey', (request) => records.voidKey(request)),
      cutOff: () => records.cutOff(),
      get status() {
        return { ...records.status, holdReason: holdReason() };
      },
      close: () => records.close(),
    };
  }

  async #answer(request: Parked): Promise<void> {
    this.#take(request);
    await request.execute();
    request.deliver();
  }

  #take(request: Parked): void {
    this.#parked.splice(this.#parked.indexOf(request), 1);
  }

  /** Sends an order unless it has expired, as the transport does. */
  #send(call: Call): void {
    if (call.sendBeforeMs !== null && this.#clock.date() > call.sendBeforeMs) {
      call.state = 'over';
      call.end({ sent: false, cause: new NotAttemptedError('expired', 'late') });
      return;
    }
    call.state = 'sent';
    call.sentAt = this.#next();
    this.#calls += 1;
  }

  #end(call: Call, as: End): void {
    const isLate = call.state === 'timed out';
    call.state = 'over';
    call.as = as;
    this.#numbers += 1;
    const exchange = as === 'accepted' ? acceptedAs(`o-${this.#numbers}`) : EXCHANGES[as];
    if (isLate) call.endLate(exchange);
    else call.end(exchange);
  }

  #kill(process: Process): void {
    const { life } = process;
    if (life === null) return;
    process.generation += 1;
    process.life = null;
    for (const request of this.#parked.filter((each) => each.process === process)) {
      this.#take(request);
    }
    // Calls that were not sent yet end with their process.
    for (const call of this.#allCalls()) {
      if (call.process === process && call.state === 'waiting') call.state = 'over';
    }
    life.records.close().catch(() => {});
  }

  /** The requests that it has sent are executed. If no other process lives, the mark file is not updated. */
  async #killAfterWrites(process: Process): Promise<void> {
    const mark = existsSync(`${this.#path}.mark`) ? readFileSync(`${this.#path}.mark`) : null;
    for (const request of this.#parked.filter((each) => each.process === process)) {
      await request.execute();
    }
    this.#kill(process);
    const isAlone = this.#processes.every(({ life }) => life === null);
    if (mark !== null && isAlone) writeFileSync(`${this.#path}.mark`, mark);
  }

  #openOperator(): OperatorFile {
    return new OperatorFile({ path: this.#path, max: 100, clock: this.#clock, onWarn() {} });
  }

  #viewerOf({ account }: Story) {
    const viewer = this.#viewers[account];
    if (viewer === undefined) throw new Error('no such account');
    return viewer;
  }

  #allCalls(): readonly Call[] {
    return this.stories.flatMap(({ calls }) => calls);
  }

  #living(): readonly Call[] {
    return this.#allCalls().filter(({ process }) => process.life !== null);
  }

  /** Unanswered requests of living processes. */
  #waiting(): readonly Asked[] {
    return this.stories
      .flatMap(({ asked }) => asked)
      .filter(
        ({ result, process, generation }) =>
          result === undefined && process.generation === generation,
      );
  }

  #next(): number {
    this.#instant += 1;
    return this.#instant;
  }
}

function isUnderWay(state: Call['state']): boolean {
  return state === 'waiting' || state === 'sent';
}

function thrice<T>(each: T): readonly T[] {
  return [each, each, each];
}

/** Waits two turns, because a follow-up task may itself wait for one. */
async function nothingMoves(): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
