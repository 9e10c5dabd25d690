import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { orderLines } from '../../../src/domain/trading/order-line.ts';
import { Orders } from '../../../src/domain/trading/orders.ts';
import type { OrderResult } from '../../../src/domain/trading/outcome.ts';
import { marketTicket } from '../../../src/domain/trading/ticket.ts';
import type { OrderEnd } from '../../../src/gateway/client.ts';
import type { Exchange } from '../../../src/gateway/exchange.ts';
import { NotAttemptedError } from '../../../src/gateway/gateway-error.ts';
import { ACCOUNT } from '../../../src/lib/account.ts';
import { datesOf } from '../../../src/store/dates.ts';
import { KEY_AHEAD_MS } from '../../../src/store/key-rule.ts';
import type { OrderRecord, OrderRecords } from '../../../src/store/order-records.ts';
import { RecordsUnavailableError } from '../../../src/store/refusals.ts';
import { settleByHand } from '../../../src/store/settlement.ts';
import { OperatorFile } from '../../../src/store/sqlite/sqlite-operator.ts';
import { openInlineOrderRecords } from '../../../src/store/sqlite/sqlite-records.ts';
import { orderEnd } from '../../support/order-end.ts';
import { keyOf } from '../../support/order-keys.ts';
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

/** The gateway's answers to an order. After `rate limited` and `forbidden` it has certainly not accepted the order. */
export type Answer = 'accepted' | 'rejected' | 'failed' | 'rate limited' | 'forbidden';

/** A gateway call of a process for an order. */
export interface Call {
  readonly process: Process;
  readonly sendBeforeMs: number | null;
  readonly end: (exchange: Exchange) => void;
  readonly endLate: (exchange: Exchange) => void;
  state: 'waiting' | 'sent' | 'timed out' | 'over';
  /** The logical time when it was sent; null before. */
  sentAt: number | null;
  answer: Answer | null;
}

/** A request of a client, and its result: undefined while it waits, and if its process was killed. */
export interface ClientRequest {
  readonly kind: 'place' | 'void' | 'find';
  /** Empty unless the request places an order. */
  readonly symbol: string;
  /** A logical time. */
  readonly startedAt: number;
  readonly process: Process;
  readonly generation: number;
  /** The logical time of its end; null while it waits, and if its process was killed. */
  endedAt: number | null;
  result: OrderResult | Error | null | undefined;
  /** Whether its process lived until everything was written. */
  wasWritten: boolean;
}

/** What a client asks for. `limitMs` is the time until the order's `sendBefore`. */
interface RequestInput extends Pick<ClientRequest, 'kind'> {
  readonly symbol?: string;
  readonly limitMs?: number;
}

/** The history of one key of one account. */
export interface KeyHistory {
  /** The account, as an index of the world's viewers. */
  readonly account: number;
  readonly name: string;
  readonly key: string;
  readonly requests: ClientRequest[];
  readonly calls: Call[];
  /** Whether its record may be gone, by a data loss or by age. */
  isForgettable: boolean;
}

/** A process of the service. Each process measures the gateway's clock with an error of its own. Each start and each kill begins a new generation. */
export interface Process {
  readonly index: number;
  readonly skewErrorMs: number;
  generation: number;
  /** Null while the process is down. */
  running: { readonly records: OrderRecords; readonly orders: Orders } | null;
}

/** A call of a process to the order records that has not arrived there yet. */
interface RecordsCall {
  readonly name: string;
  readonly process: Process;
  execute(): Promise<void>;
  deliver(): void;
  fail(): void;
}

type Action = readonly [name: string, run: () => void | Promise<void>];

const ORDER_TIMEOUT_MS = 2_000;
const HOUR_MS = 3_600_000;
/** Longer than the day for which a record is kept. */
const MORE_THAN_A_DAY_MS = 25 * HOUR_MS;
/** The limit of orders that expire soon, and a pause that is just longer. */
const SHORT_LIMIT_MS = 50;
const OVER_SHORT_LIMIT_MS = 51;
const MAX_OPEN_REQUESTS = 5;
/** So few that records of rejected orders are removed to make room. */
const MAX_PER_ACCOUNT = 2;
const MAX_DRAIN_ROUNDS = 3_000;
/** Repeated requests and operators use the latest keys. */
const LATEST_KEYS = 3;
/** One repeat in four has another symbol than its key's first order, and must be refused. */
const REPEATED_SYMBOLS = ['AAPL', 'AAPL', 'AAPL', 'MSFT'];
const EXCHANGES: Readonly<Record<Answer, Exchange>> = {
  accepted: acceptedAs('o-1'),
  rejected: answered(422, { err: 'NO' }),
  failed: answered(500),
  'rate limited': answered(429),
  forbidden: answered(403),
};
const ANSWERS = Object.keys(EXCHANGES) as Answer[];

/** Two processes that share an order file and may be killed at any step, a gateway, clients, an operator, and a scripted clock. */
export class OrderWorld {
  readonly histories: KeyHistory[] = [];
  /** The names of the past actions. */
  readonly events: string[] = [];
  readonly #path: string;
  /** The file beside the order file by which the service detects that an older copy was restored. */
  readonly #markPath: string;
  readonly #clock = createScriptedClock();
  readonly #processes = [500, -500].map(
    (skewErrorMs, index): Process => ({ index, skewErrorMs, generation: 0, running: null }),
  );
  readonly #viewers = ['1001', '2002'].map((login) => viewerOf(`token-${login}`, { login }));
  readonly #recordsCalls: RecordsCall[] = [];
  #sentOrders = 0;
  #answers = 0;
  #logicalTime = 0;
  /** How far this machine's date is ahead of the gateway's, which is right. */
  #aheadMs = 0;
  #isHeld = false;

  constructor(folder: string) {
    this.#path = join(folder, 'orders.db');
    this.#markPath = `${this.#path}.mark`;
    for (const process of this.#processes) this.#start(process);
  }

  /** The number of orders that were sent to the gateway. */
  get sent(): number {
    return this.#sentOrders;
  }

  /** Runs one of the possible next actions: mostly progress of orders, sometimes a disturbance. */
  async step(choice: number): Promise<void> {
    const recordsActions = this.#recordsCalls.flatMap((call) => this.#recordsActions(call));
    const gatewayActions = this.#allCalls().flatMap((call) => this.#gatewayActions(call));
    const groups = [
      ...repeated(3, this.#clientActions()),
      ...repeated(6, recordsActions),
      ...repeated(3, gatewayActions),
      this.#timeActions(),
      [...this.#processActions(), ...this.#operatorActions()],
    ].filter(({ length }) => length > 0);
    // The remainder chooses a group, and the quotient an action of this group.
    const group = groups[choice % groups.length] ?? [];
    const quotient = Math.floor(choice / groups.length);
    const action = group[quotient % group.length];
    if (action === undefined) return;
    const [name, run] = action;
    this.events.push(name);
    await run();
    await followUpsDone();
  }

  /** Lets every request end, and returns a look-up of the final records. */
  async finish(): Promise<(history: KeyHistory) => OrderRecord | null> {
    this.#isHeld = false;
    const survivors = new Map(this.#processes.map((each) => [each, each.generation]));
    await this.#endAll();
    for (const { requests } of this.histories) {
      for (const each of requests)
        each.wasWritten = survivors.get(each.process) === each.generation;
    }
    for (const process of this.#processes) this.#kill(process);
    const records = await this.#readRecords();
    return (history) => records.get(history) ?? null;
  }

  [Symbol.dispose](): void {
    for (const process of this.#processes) this.#kill(process);
    for (const each of ['', '.mark', '.copy', '.mark.copy', '-journal']) {
      rmSync(`${this.#path}${each}`, { force: true });
    }
  }

  /** Ends the open calls one after another, until no request waits and the living processes have drained. */
  async #endAll(): Promise<void> {
    let isDrained = false;
    const drained = this.#processes.map(({ running }) => running?.orders.drain());
    Promise.all(drained).then(
      () => {
        isDrained = true;
      },
      () => {},
    );
    for (let round = 0; round < MAX_DRAIN_ROUNDS; round += 1) {
      const [recordsCall] = this.#recordsCalls;
      const call = this.#livingCalls().find(({ state }) => isUnderWay(state));
      const isDone = this.#openRequests().length === 0 && isDrained;
      if (recordsCall) await this.#complete(recordsCall);
      else if (call?.state === 'waiting') this.#send(call);
      else if (call) this.#answer(call, 'accepted');
      else if (isDone) break;
      else await this.#clock.advance(100);
      await followUpsDone();
    }
  }

  async #readRecords(): Promise<ReadonlyMap<KeyHistory, OrderRecord | null>> {
    const records = new Map<KeyHistory, OrderRecord | null>();
    if (!existsSync(this.#path)) return records;
    const operator = this.#openOperator();
    for (const history of this.histories) {
      const account = this.#viewerOf(history)[ACCOUNT];
      records.set(history, await operator.find(account, history.key));
    }
    operator.close();
    return records;
  }

  #processActions(): readonly Action[] {
    const living = this.#processes.filter(({ running }) => running !== null);
    const dead = this.#processes.filter(({ running }) => running === null);
    const starts = dead.map((each): Action => [`${each.index} starts`, () => this.#start(each)]);
    return [
      ...repeated(3, starts).flat(),
      ...living.flatMap((each): Action[] => [
        [`${each.index} is killed`, () => this.#kill(each)],
        [`${each.index} is killed after its writes`, () => this.#killAfterWrites(each)],
      ]),
      ...this.#dataLosses(),
    ];
  }

  #clientActions(): readonly Action[] {
    if (this.#openRequests().length >= MAX_OPEN_REQUESTS) return [];
    const living = this.#processes.filter(({ running }) => running !== null);
    return living.flatMap((each) => this.#clientActionsOn(each));
  }

  #clientActionsOn(process: Process): readonly Action[] {
    const request = (history: KeyHistory, input: RequestInput): Action => {
      const { kind, symbol = '', limitMs = '' } = input;
      const name = `${process.index} is asked to ${kind} ${symbol} ${history.account} ${history.name} ${limitMs}`;
      return [name, () => this.#request(process, history, input)];
    };
    const repeats = this.histories
      .slice(-LATEST_KEYS)
      .flatMap((history) => [
        ...REPEATED_SYMBOLS.map((symbol) => request(history, { kind: 'place', symbol })),
        request(history, { kind: 'place', symbol: 'AAPL', limitMs: SHORT_LIMIT_MS }),
        request(history, { kind: 'void' }),
        request(history, { kind: 'find' }),
      ]);
    // The key changes with every second history only, so that both accounts often use the same key.
    const key = `key ${Math.floor(this.histories.length / 2)}`;
    // Some keys are as far ahead as they may be.
    const firsts = [0, KEY_AHEAD_MS, 1_000].map((aheadMs, index): Action => {
      const account = Math.floor(index / 2);
      const place = () => {
        const history = this.#historyOf(account, key, this.#datesOf(process).judgedMs + aheadMs);
        this.#request(process, history, { kind: 'place', symbol: 'AAPL' });
      };
      return [`${process.index} is asked for a new order ${account} ${key} ${aheadMs}`, place];
    });
    return [...firsts, ...repeats];
  }

  #historyOf(account: number, name: string, madeMs: number): KeyHistory {
    const known = this.histories.find((each) => each.name === name && each.account === account);
    if (known) return known;
    const history: KeyHistory = {
      account,
      name,
      key: this.histories.find((each) => each.name === name)?.key ?? keyOf(name, madeMs),
      requests: [],
      calls: [],
      isForgettable: false,
    };
    this.histories.push(history);
    return history;
  }

  #request(process: Process, history: KeyHistory, input: RequestInput): void {
    if (process.running === null) return;
    const { orders } = process.running;
    const request: ClientRequest = {
      kind: input.kind,
      symbol: input.symbol ?? '',
      process,
      generation: process.generation,
      startedAt: this.#nextLogicalTime(),
      endedAt: null,
      result: undefined,
      wasWritten: false,
    };
    history.requests.push(request);
    const end = (result: OrderResult | Error | null) => {
      if (process.generation !== request.generation) return;
      request.result = result;
      request.endedAt = this.#nextLogicalTime();
    };
    this.#resultOf(orders, history, input).then(end, end);
  }

  async #resultOf(
    orders: Orders,
    history: KeyHistory,
    { kind, symbol = '', limitMs }: RequestInput,
  ): Promise<OrderResult | null> {
    const viewer = this.#viewerOf(history);
    const proof = proofOf(viewer);
    if (kind === 'find') return orders.placed(proof, history.key);
    if (kind === 'void') return orders.void(proof, history.key);
    const ticket = marketTicket({
      symbol,
      side: 'BUY',
      kind: 'MARKET',
      size: { units: 1 },
      // By this index the scripted gateway finds the history of an order.
      comment: String(this.histories.indexOf(history)),
      idempotencyKey: history.key,
      ...(limitMs !== undefined && { sendBefore: this.#clock.date() + limitMs }),
    });
    return orders.place(viewer, proof, ticket);
  }

  #recordsActions(call: RecordsCall): readonly Action[] {
    const { name } = call;
    const complete: Action = [`${name} arrives`, () => this.#complete(call)];
    const fail = () => {
      this.#remove(call);
      call.fail();
    };
    const loseAnswer = async () => {
      this.#remove(call);
      await call.execute();
      call.fail();
    };
    return [
      ...repeated(4, complete),
      [`${name} fails`, fail],
      [`${name} has no answer`, loseAnswer],
    ];
  }

  #gatewayActions(call: Call): readonly Action[] {
    const name = `a call of ${call.process.index}`;
    if (call.state === 'waiting') {
      const refuse = () => {
        call.state = 'over';
        call.end(notSent);
      };
      return [
        ...repeated<Action>(3, [`${name} is sent`, () => this.#send(call)]),
        [`${name} cannot be sent`, refuse],
      ];
    }
    const answers = ANSWERS.map(
      (answer): Action => [`${name} is ${answer}`, () => this.#answer(call, answer)],
    );
    if (call.state === 'sent') {
      const timeOut = () => {
        call.state = 'timed out';
        call.end(unanswered);
      };
      return [...answers, ...repeated<Action>(3, [`${name} times out`, timeOut])];
    }
    return call.state === 'timed out' ? answers : [];
  }

  #timeActions(): readonly Action[] {
    const pass = (ms: number): Action => [`${ms} ms pass`, () => this.#clock.advance(ms)];
    const passDay = async () => {
      this.#allowForgetting();
      for (const call of this.#allCalls()) call.state = 'over';
      await this.#clock.advance(MORE_THAN_A_DAY_MS);
    };
    // No request takes a day, so a day passes only when nothing is under way.
    const isQuiet =
      this.#recordsCalls.length === 0 &&
      this.#openRequests().length === 0 &&
      this.#livingCalls().every(({ state }) => !isUnderWay(state));
    const setDate = (ms: number): Action => [
      `the date is set by ${ms} ms`,
      () => {
        this.#clock.setDate(ms);
        this.#aheadMs += ms;
      },
    ];
    const isDateRight = this.#aheadMs === 0;
    const changes = isDateRight ? [30_000, -30_000, 5 * HOUR_MS] : [-this.#aheadMs];
    return [
      ...[100, OVER_SHORT_LIMIT_MS, 6_000, 90_000].map(pass),
      ...(isQuiet ? ([['a day passes', passDay]] as const) : []),
      ...changes.map(setDate),
    ];
  }

  #operatorActions(): readonly Action[] {
    const toggleHold: Action = [
      this.#isHeld ? 'orders are released' : 'orders are held',
      () => {
        this.#isHeld = !this.#isHeld;
      },
    ];
    const settle = (history: KeyHistory): Action => [
      `${history.account} ${history.name} is settled`,
      () => this.#settle(history),
    ];
    const settlements = this.histories.slice(-LATEST_KEYS).map(settle);
    // While orders are held few actions are possible, so a release is chosen more often than a hold.
    return [...repeated(this.#isHeld ? 3 : 1, toggleHold), ...settlements];
  }

  /** From now on, the rules accept that the records of the present keys are gone. */
  #allowForgetting(): void {
    for (const history of this.histories) history.isForgettable = true;
  }

  /** An operator settles the order by what the gateway did. */
  async #settle(history: KeyHistory): Promise<void> {
    const account = this.#viewerOf(history)[ACCOUNT];
    const { key, calls } = history;
    const settled = { by: 'jane', why: 'ticket', atMs: this.#clock.date() };
    const isAccepted = calls.some(({ answer }) => answer === 'accepted');
    const outcome = isAccepted
      ? ({ kind: 'accepted', orderId: null, message: null, settled } as const)
      : ({ kind: 'rejected', error: 'SETTLED', message: null, sent: false, settled } as const);
    if (!existsSync(this.#path)) return;
    // While a call is open, the gateway's answer is not known yet.
    if (calls.some(({ state, process }) => state !== 'over' && process.running !== null)) return;
    for (const call of calls) call.state = 'over';
    const operator = this.#openOperator();
    await settleByHand(operator, { account, key }, outcome);
    operator.close();
  }

  /** Returns actions that copy the file and its mark file, and actions that lose records while no process runs. */
  #dataLosses(): readonly Action[] {
    const path = this.#path;
    const mark = this.#markPath;
    const copy = () => {
      copyFileSync(path, `${path}.copy`);
      copyFileSync(mark, `${mark}.copy`);
    };
    const restore = () => copyFileSync(`${path}.copy`, path);
    const losses: Readonly<Record<string, () => void | Promise<void>>> = {
      'an older copy is restored': restore,
      'an older copy is restored without a mark': () => {
        restore();
        rmSync(mark);
      },
      'an older copy is restored with its mark, and an operator declares the loss': () => {
        restore();
        copyFileSync(`${mark}.copy`, mark);
        return this.#declareIncomplete();
      },
      'the file is removed alone': () => rmSync(path),
    };
    // The loss of a file without records cannot be detected.
    if (!existsSync(path) || !existsSync(mark) || this.#sentOrders === 0) return [];
    const lossActions = Object.entries(losses).map(
      ([name, lose]): Action => [
        name,
        async () => {
          for (const process of this.#processes) this.#kill(process);
          this.#allowForgetting();
          await lose();
          return this.#clock.advance(100);
        },
      ],
    );
    return [['a copy is made', copy], ...(existsSync(`${mark}.copy`) ? lossActions : [])];
  }

  async #declareIncomplete(): Promise<void> {
    const operator = this.#openOperator();
    await operator.declareIncomplete();
    operator.close();
  }

  #start(process: Process): void {
    process.generation += 1;
    const { generation } = process;
    const dates = () => this.#datesOf(process);
    const records = openInlineOrderRecords({
      path: this.#path,
      max: 100,
      maxPerAccount: MAX_PER_ACCOUNT,
      clock: this.#clock,
      dates,
      takesOldKeys: true,
      onWarn() {},
    });
    const orders = new Orders({
      clock: this.#clock,
      log: createTestLog(),
      orderTimeoutMs: ORDER_TIMEOUT_MS,
      orderNumbers: 'order',
      onAccountChanged() {},
      dates,
      lines: orderLines(null),
      metrics: countersOf(() => {}),
      records: this.#delayedRecords(process, records),
      gateway: {
        order: (_viewer, { order, sendBeforeMs }, endLate = () => {}) => {
          const { promise, resolve } = Promise.withResolvers<OrderEnd>();
          const call: Call = {
            process,
            sendBeforeMs,
            end: (exchange) => resolve(orderEnd(exchange)),
            endLate: (exchange) => endLate(orderEnd(exchange)),
            state: 'waiting',
            sentAt: null,
            answer: null,
          };
          const history = this.histories[Number(order.comment)];
          if (process.generation === generation) history?.calls.push(call);
          return promise;
        },
      },
    });
    process.running = { records, orders };
  }

  /** The records as a process reaches them: each call waits in `#recordsCalls` until an action completes or fails it. */
  #delayedRecords(process: Process, records: OrderRecords): OrderRecords {
    const { generation } = process;
    const delayed =
      <Args extends unknown[], T>(name: string, call: (...args: Args) => Promise<T>) =>
      (...args: Args) =>
        new Promise<T>((resolve, reject) => {
          // A killed process makes no more calls.
          if (process.generation !== generation) return;
          let deliver = () => {};
          const execute = async () => {
            await call(...args).then(
              (answer) => {
                deliver = () => resolve(answer);
              },
              (error) => {
                deliver = () => reject(error);
              },
            );
          };
          const fail = () => reject(new RecordsUnavailableError('no answer'));
          this.#recordsCalls.push({
            name: `${process.index} ${name}`,
            process,
            execute,
            deliver: () => deliver(),
            fail,
          });
        });
    const holdReason = () => (this.#isHeld ? 'held' : null);
    return {
      reserve: delayed('reserve', (request) => records.reserve(request)),
      settle: delayed('settle', (reservation, outcome) => records.settle(reservation, outcome)),
      release: delayed('release', (reservation) => records.release(reservation)),
      find: delayed('find', (account, key) => records.find(account, key)),
      voidKey: delayed('voidKey', (key) => records.voidKey(key)),
      cutOff: () => records.cutOff(),
      get status() {
        return { ...records.status, holdReason: holdReason() };
      },
      close: () => records.close(),
    };
  }

  async #complete(call: RecordsCall): Promise<void> {
    this.#remove(call);
    await call.execute();
    call.deliver();
  }

  #remove(call: RecordsCall): void {
    this.#recordsCalls.splice(this.#recordsCalls.indexOf(call), 1);
  }

  /** Sends an order unless it has expired, as the transport does. */
  #send(call: Call): void {
    if (call.sendBeforeMs !== null && this.#clock.date() > call.sendBeforeMs) {
      call.state = 'over';
      call.end({ sent: false, cause: new NotAttemptedError('expired', 'late') });
      return;
    }
    call.state = 'sent';
    call.sentAt = this.#nextLogicalTime();
    this.#sentOrders += 1;
  }

  #answer(call: Call, answer: Answer): void {
    const isLate = call.state === 'timed out';
    call.state = 'over';
    call.answer = answer;
    this.#answers += 1;
    const exchange = answer === 'accepted' ? acceptedAs(`o-${this.#answers}`) : EXCHANGES[answer];
    if (isLate) call.endLate(exchange);
    else call.end(exchange);
  }

  #kill(process: Process): void {
    const { running } = process;
    if (running === null) return;
    process.generation += 1;
    process.running = null;
    for (const call of this.#recordsCalls.filter((each) => each.process === process)) {
      this.#remove(call);
    }
    // Calls that were not sent yet end with their process.
    for (const call of this.#allCalls()) {
      if (call.process === process && call.state === 'waiting') call.state = 'over';
    }
    running.records.close().catch(() => {});
  }

  /** Executes the process's calls to the records, then kills it. If no other process runs, the mark file is not updated. */
  async #killAfterWrites(process: Process): Promise<void> {
    const mark = existsSync(this.#markPath) ? readFileSync(this.#markPath) : null;
    for (const call of this.#recordsCalls.filter((each) => each.process === process)) {
      await call.execute();
    }
    this.#kill(process);
    const isLast = this.#processes.every(({ running }) => running === null);
    if (mark !== null && isLast) writeFileSync(this.#markPath, mark);
  }

  /** The dates by which a process judges now. */
  #datesOf({ skewErrorMs }: Process) {
    const skewMs = skewErrorMs - this.#aheadMs;
    return datesOf(this.#clock.date(), { ms: skewMs, earlyMs: skewMs });
  }

  #openOperator(): OperatorFile {
    return new OperatorFile({ path: this.#path, max: 100, clock: this.#clock, onWarn() {} });
  }

  #viewerOf({ account }: KeyHistory) {
    const viewer = this.#viewers[account];
    if (viewer === undefined) throw new Error('no such account');
    return viewer;
  }

  #allCalls(): readonly Call[] {
    return this.histories.flatMap(({ calls }) => calls);
  }

  #livingCalls(): readonly Call[] {
    return this.#allCalls().filter(({ process }) => process.running !== null);
  }

  /** Unanswered requests of living processes. */
  #openRequests(): readonly ClientRequest[] {
    return this.histories
      .flatMap(({ requests }) => requests)
      .filter(
        ({ result, process, generation }) =>
          result === undefined && process.generation === generation,
      );
  }

  #nextLogicalTime(): number {
    this.#logicalTime += 1;
    return this.#logicalTime;
  }
}

function isUnderWay(state: Call['state']): boolean {
  return state === 'waiting' || state === 'sent';
}

/** Repeats an entry of a list, so that a random choice takes it more often. */
function repeated<T>(times: number, entry: T): readonly T[] {
  return Array<T>(times).fill(entry);
}

/** Waits two turns of the event loop, because a follow-up task may itself wait for one turn. */
async function followUpsDone(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
