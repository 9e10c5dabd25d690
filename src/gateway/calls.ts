import { steadyClock } from '../lib/clock.ts';
import { parseLongIntegers } from '../lib/exact-json.ts';
import type { FairScheduler } from '../lib/fair-scheduler.ts';
import { chain, type MaybePromise } from '../lib/maybe-promise.ts';
import { isJsonContent, isLongToParse, jsonOf } from './answer-body.ts';
import type { Caller } from './caller.ts';
import type { GatewayError } from './errors.ts';
import type { Answer, Exchange, Send, WireCall } from './exchange.ts';
import type { Fields, ListReader, Table, ValueOf } from './fields.ts';
import { jsonObject } from './json-items.ts';
import { type Acknowledgement, contractError, judgeRead, judgeWrite } from './judge.ts';
import type { DescribedOperation } from './operation.ts';
import type { CallValues, RequestTemplates } from './request-templates.ts';
import { isRow, type Reading, type Row, readingIn, type TimeUnit } from './wire/scalars.ts';

/** What operations are asked with, beside their input. */
export interface OperationSettings {
  readonly gatewayDirectionField: string;
  readonly gatewayMobileWallet: string;
  readonly gatewayTimeUnit: TimeUnit;
}

export interface CallsOptions extends OperationSettings {
  readonly send: Send;
  readonly templates: RequestTemplates;
  /** Long lists are read in its turns. */
  readonly turns: FairScheduler;
  /** Called with each read or sign-in whose answer has a body that breaks the interface. */
  readonly onBroken: (operation: string) => void;
  /** Called with how an answer was read. */
  readonly onRead: (operation: string, reading: Reading) => void;
}

/** A list over more pages than this is a loop. */
const MAX_CALLS = 100;
/** Read in about a millisecond. */
const LONG_BYTES = 64 * 1024;

/** The calls of one run of an operation: any number, all within the operation's one deadline and the bound of its answer's bytes. */
export class Calls {
  readonly operation: DescribedOperation;
  readonly caller: Caller;
  readonly #options: CallsOptions;
  #count = 0;
  #endsAtMs = 0;
  #bytesLeft = 0;

  constructor(options: CallsOptions, operation: DescribedOperation, caller: Caller) {
    this.#options = options;
    this.operation = operation;
    this.caller = caller;
  }

  get settings(): OperationSettings {
    return this.#options;
  }

  /** Sends one of the operation's calls. `read` makes of its exchange what the promise resolves to, or throws why there is none. */
  protected exchange<T>(
    name: string,
    values: CallValues,
    read: (exchange: Exchange) => MaybePromise<T>,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const { send, templates } = this.#options;
      const call = templates.call(this.operation, name)(this.caller, values);
      send(this.#bounded(call), (exchange) => {
        try {
          resolve(read(exchange));
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  /** The first call has the operation's deadline and size; later ones have what is left. */
  #bounded(call: WireCall): WireCall {
    this.#count += 1;
    if (this.#count === 1) {
      this.#endsAtMs = steadyClock.now() + call.deadlineMs;
      this.#bytesLeft = call.maxBytes;
      return call;
    }
    if (this.#count > MAX_CALLS) throw this.broken('pages without an end');
    const deadlineMs = Math.max(1, this.#endsAtMs - steadyClock.now());
    return { ...call, deadlineMs, maxBytes: this.#bytesLeft };
  }

  protected received({ bytes }: Answer): void {
    this.#bytesLeft = Math.max(0, this.#bytesLeft - bytes.length);
  }

  /** Reads the JSON of an answer; what is null breaks the interface. */
  value<T>(
    answer: Answer,
    expected: string,
    read: (body: unknown, reading: Reading) => T | null,
  ): T {
    return this.taken(jsonOf(answer, parseLongIntegers), expected, read);
  }

  protected taken<T>(
    body: unknown,
    expected: string,
    read: (body: unknown, reading: Reading) => T | null,
  ): T {
    const reading = readingIn(this.settings.gatewayTimeUnit);
    const value = read(body, reading);
    this.wasRead(reading);
    if (value === null) throw this.broken(`no ${expected}`);
    return value;
  }

  /** Reads an object by its table; lists of a long answer in turns with other requests. `accept`: whether it is the answer. */
  read<F extends Fields>(
    answer: Answer,
    table: Table<F>,
    accept: (body: Row) => boolean = () => true,
  ): MaybePromise<ValueOf<F>> {
    const { gatewayTimeUnit: unit, turns } = this.#options;
    const finish = ({ body, reading }: ReadBody) => {
      const value = isRow(body) && accept(body) ? table.read(body, reading) : null;
      this.wasRead(reading);
      if (value === null) throw this.broken(`no ${table.shape.name}`);
      return value;
    };
    if (answer.bytes.length <= LONG_BYTES) {
      return finish({ body: jsonOf(answer), reading: readingIn(unit) });
    }
    const client = `lists ${this.caller.token?.hash}`;
    return chain(inTurns(answer, table, readingIn(unit), turns, client), finish);
  }

  /** Notes how an answer was read. */
  wasRead(reading: Reading): void {
    this.#options.onRead(this.operation.name, reading);
  }

  /** The error of an answer that breaks the interface, counted. */
  broken(message: string): GatewayError {
    this.#options.onBroken(this.operation.name);
    return contractError(this.operation.name, message);
  }
}

/** The calls of a read. */
export class ReadCalls extends Calls {
  /** `read` gets the answer of a 2xx, or of a 304 where it was asked for; any other end is a GatewayError. */
  send<T>(name: string, values: CallValues, read: (answer: Answer) => MaybePromise<T>): Promise<T> {
    return this.exchange(name, values, (exchange) => {
      const answer = judgeRead(this.operation.name, exchange);
      const isConditional = this.operation.mayHaveAged;
      if (answer.status === 304 && !isConditional) throw this.broken('an unrequested 304');
      this.received(answer);
      return read(answer);
    });
  }
}

/** The calls of a small write, each of which is sent once. */
export class WriteCalls extends Calls {
  send<T>(
    name: string,
    values: CallValues,
    judge: (exchange: Exchange) => MaybePromise<T>,
  ): Promise<T> {
    return this.exchange(name, values, judge);
  }

  /** Sends a write whose answer only says whether it was done. */
  acknowledged(name: string, values: CallValues): Promise<Acknowledgement> {
    return this.exchange(name, values, (exchange) => judgeWrite(this.operation, exchange));
  }
}

interface ReadBody {
  /** Undefined where the answer is none. */
  readonly body: unknown;
  readonly reading: Reading;
}

/** Reads the lists of a long answer row by row, a slice of them in each turn of the client's. */
async function inTurns<F extends Fields>(
  answer: Answer,
  { fields }: Table<F>,
  reading: Reading,
  turns: FairScheduler,
  client: string,
): Promise<ReadBody> {
  const { headers, bytes } = answer;
  const lists = new Map<string, ListReader>();
  const isEnvelope = Object.keys(fields).length === 1;
  for (const [own, { name, reader }] of Object.entries(fields)) {
    const wire = name ?? own;
    if (reader !== undefined) lists.set(wire, reader(reading, isEnvelope ? '' : `${wire}.`));
  }
  await turns.turn(client);
  let read: ReadBody;
  try {
    if (!isJsonContent(headers['content-type'])) throw new SyntaxError('no JSON');
    const adds = [...lists].map(([name, { add }]) => [name, add] as const);
    const rows = jsonObject(bytes, Object.fromEntries(adds));
    let row = rows.next();
    for (; !row.done; row = rows.next()) if (turns.isSliceOver()) await turns.turn(client);
    // The rows take the place of the empty lists that are left in the body.
    const filled = [...lists].filter(([, { isEmpty }]) => !isEmpty);
    read = { body: { ...row.value, ...Object.fromEntries(filled) }, reading };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // One of another shape is parsed as a whole, unless that takes a second.
    const body = isLongToParse(bytes) ? undefined : jsonOf(answer);
    read = { body, reading: readingIn(reading.unit) };
  }
  // The mapping of the lists has a turn of its own.
  await turns.turn(client);
  return read;
}
