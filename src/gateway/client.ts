import { hash } from 'node:crypto';
import type { Login } from '../../lib/account.ts';
import { systemClock } from '../../lib/clock.ts';
import { parseLongIntegers } from '../../lib/exact-json.ts';
import { FairScheduler } from '../../lib/fair-scheduler.ts';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import { isJsonContent, isLongToParse, jsonOf } from './answer-body.ts';
import type {
  Acknowledgement,
  CatalogAnswer,
  PositionsAnswer,
  ReadTimes,
  SessionAnswer,
  SignIn,
} from './answers.ts';
import type { Caller } from './caller.ts';
import type { GatewayError } from './errors.ts';
import type { Answer, Exchange, Send } from './exchange.ts';
import { jsonItems, jsonObject } from './json-items.ts';
import { contractError, judgeRead, judgeSignIn, judgeWrite } from './judge.ts';
import type { LimitOrder, MarketOrder } from './model.ts';
import { OPERATIONS, type OperationName, type WriteName } from './operations.ts';
import { limitOrderBody, marketOrderBody } from './order-body.ts';
import {
  createCalls,
  type ReadRequest,
  type RequestDetails,
  type RequestSettings,
  unjudged,
  type WriteRequest,
} from './request-templates.ts';
import { ordersReader, positionsReader, toPositions } from './wire/holding.ts';
import { toInstruments } from './wire/instrument.ts';
import type { Read } from './wire/reads.ts';
import { isRow, type Reading, readingIn, type TimeUnit, text } from './wire/scalars.ts';
import { isSnapshotOf, type ReadLists, toSession } from './wire/session.ts';

export interface GatewayClientOptions extends RequestSettings {
  readonly send: Send;
  readonly gatewayDirectionField: string;
  readonly gatewayMobileWallet: string;
  readonly gatewayTimeUnit: TimeUnit;
  /** Long lists are read in its turns. */
  readonly turns?: FairScheduler;
  /** Called with each read or sign-in whose answer has a body that breaks the interface. */
  readonly onBroken?: (operation: OperationName) => void;
  /** Called with how an answer was read. */
  readonly onRead?: (operation: OperationName, reading: Reading) => void;
}

type Sending = Pick<RequestDetails, 'sendBeforeMs' | 'onLate'>;

export type GatewayClient = ReturnType<typeof createGatewayClient>;

/** The gateway's operations: `read` for those of a viewer alone, a function for each other. Reads throw a GatewayError. */
export function createGatewayClient(options: GatewayClientOptions) {
  const { turns = new FairScheduler() } = options;
  const { gatewayDirectionField: directionField, onRead = () => {} } = options;
  const call = createCalls(OPERATIONS, options, options.send);

  function broken(operation: OperationName, message: string): GatewayError {
    options.onBroken?.(operation);
    return contractError(operation, message);
  }

  function bodyOf(operation: OperationName, exchange: Exchange): Answer {
    const answer = judgeRead(operation, exchange);
    if (answer.status === 304) throw broken(operation, 'an unrequested 304');
    return answer;
  }

  /** A value of an answer; one that breaks the interface is an error, and figures that no double carries are counted. */
  function whole<T>(
    operation: OperationName,
    expected: string,
    value: T | null,
    reading: Reading,
  ): T {
    onRead(operation, reading);
    if (value === null) throw broken(operation, `no ${expected}`);
    return value;
  }

  /** The lists of an account; those of a short answer are in its body. */
  function readLists(answer: Answer, { token }: Caller, path: string): MaybePromise<ReadAnswer> {
    const unit = options.gatewayTimeUnit;
    if (answer.bytes.length > LONG_BYTES)
      return listsInTurns(answer, unit, path, turns, `lists ${token?.hash}`);
    return { body: jsonOf(answer), reading: readingIn(unit) };
  }

  return {
    read<T>(
      caller: Caller,
      { operation, map, expected }: Read<T>,
      request?: ReadRequest,
    ): Promise<T> {
      const read = (exchange: Exchange) => {
        const body = jsonOf(bodyOf(operation, exchange), parseLongIntegers);
        const reading = readingIn(options.gatewayTimeUnit);
        return whole(operation, expected, map(body, reading), reading);
      };
      return call(operation, caller, read, request);
    },
    async getAllTickers(
      caller: Caller,
      group: string,
      etag: string | null,
    ): Promise<CatalogAnswer> {
      const operation = 'getAllTickers';
      const headers = ['accept-encoding', 'gzip'];
      if (etag !== null) headers.push('if-none-match', etag);
      const judge = (exchange: Exchange) => judgeRead(operation, exchange);
      const answer = await call(operation, caller, judge, { path: { group }, headers });
      if (answer.status === 304) {
        if (etag === null) throw broken(operation, 'an unrequested 304');
        return { modified: false, headers: answer.headers, ...readTimesOf(answer) };
      }
      const instruments = await instrumentsOf(answer);
      if (instruments === null) throw broken(operation, 'no list of instruments');
      const { reading, ...catalog } = instruments;
      onRead(operation, reading);
      return {
        modified: true,
        ...catalog,
        etag: entityTag(answer.headers.etag),
        headers: answer.headers,
        ...readTimesOf(answer),
      };
    },
    login(caller: Caller, email: string, password: string): Promise<SignIn> {
      const operation = 'login';
      const judge = (exchange: Exchange) => {
        const verdict = judgeSignIn(operation, exchange);
        if (verdict === null) throw broken(operation, 'neither a token nor an error');
        return verdict;
      };
      return call(operation, caller, judge, { body: { email, password } });
    },
    write(caller: Caller, operation: WriteName, request: WriteRequest): Promise<Acknowledgement> {
      const path = { provider: options.gatewayMobileWallet, ...request.path };
      const judge = (exchange: Exchange) => judgeWrite(operation, exchange);
      return call(operation, caller, judge, { ...request, path });
    },
    openPosition: (caller: Caller, order: MarketOrder, details: Sending = {}) =>
      call('openPosition', caller, unjudged, {
        ...details,
        body: marketOrderBody(order, directionField),
      }),
    placeLimitOrder: (caller: Caller, order: LimitOrder, details: Sending = {}) =>
      call('placeLimitOrder', caller, unjudged, {
        ...details,
        body: limitOrderBody(order, directionField),
      }),
    /** `onOwned` is called with the group of a snapshot that is this login's, whatever is in its lists. */
    getSession(
      caller: Caller,
      login: Login,
      onOwned: (group: string | null) => void = () => {},
    ): Promise<SessionAnswer> {
      const operation = 'getSession';
      const read = (exchange: Exchange) => {
        const answer = bodyOf(operation, exchange);
        const ended = ({ body, reading, positions, orders }: ReadAnswer) => {
          // An empty group is none, as in a token.
          if (isSnapshotOf(login, body)) onOwned(text(body.group) || null);
          const snapshot = toSession(body, login, reading, { positions, orders });
          const session = whole(operation, 'snapshot of this login', snapshot, reading);
          return { session, ...readTimesOf(answer) };
        };
        return chain(readLists(answer, caller, 'positions.'), ended);
      };
      return call(operation, caller, read, { path: { login } });
    },
    /** Memoized: a body of the same hash has equal positions, so nothing is parsed on this hot path. */
    getOpenPositions(caller: Caller, previous: PositionsAnswer | null): Promise<PositionsAnswer> {
      const operation = 'getOpenPositions';
      const read = (exchange: Exchange) => {
        const answer = bodyOf(operation, exchange);
        const { bytes } = answer;
        const times = readTimesOf(answer);
        // The body itself would be two fifths of what a user takes of the memory.
        const bodyHash = hash('sha256', bytes, 'base64');
        if (previous?.bodyHash === bodyHash) return { ...previous, ...times };
        return chain(readLists(answer, caller, ''), ({ body, reading, positions }) => {
          const list =
            positions === undefined && isRow(body)
              ? toPositions(body.positions, reading)
              : positions;
          const rows = whole(operation, 'whole list of positions', list ?? null, reading);
          return { positions: rows, bodyHash, bodyBytes: bytes.length, ...times };
        });
      };
      return call(operation, caller, read);
    },
  };
}

/** Read in about a millisecond. */
const LONG_BYTES = 64 * 1024;

/** An answer with lists of an account, of which those that are long are read apart. */
interface ReadAnswer extends ReadLists {
  /** Undefined where the answer is none. */
  readonly body: unknown;
  readonly reading: Reading;
}

/** Reads the lists of a long answer row by row, a slice of them in each turn of the client's. */
async function listsInTurns(
  answer: Answer,
  unit: TimeUnit,
  path: string,
  turns: FairScheduler,
  client: string,
): Promise<ReadAnswer> {
  const { headers, bytes } = answer;
  const reading = readingIn(unit);
  const positions = positionsReader(reading, path);
  const orders = ordersReader(reading);
  await turns.turn(client);
  let read: ReadAnswer;
  try {
    if (!isJsonContent(headers['content-type'])) throw new SyntaxError('no JSON');
    const rows = jsonObject(bytes, { positions: positions.add, orders: orders.add });
    let row = rows.next();
    for (; !row.done; row = rows.next()) if (turns.isSliceOver()) await turns.turn(client);
    read = { body: row.value, reading, positions: positions.list, orders: orders.list };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // One of another shape is parsed as a whole, unless that takes a second.
    read = { body: isLongToParse(bytes) ? undefined : jsonOf(answer), reading: readingIn(unit) };
  }
  // The mapping of the lists has a turn of its own.
  await turns.turn(client);
  return read;
}

/** Null where the body is no list. */
async function instrumentsOf({ headers, bytes }: Answer) {
  if (!isJsonContent(headers['content-type'])) return null;
  try {
    return await toInstruments(jsonItems(bytes));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** `If-None-Match` must be a legal header, or no catalog could be requested again. */
function entityTag(header: string | undefined): string | null {
  return header !== undefined && /^(?!\*$)[\x21-\x7e]+$/.test(header) ? header : null;
}

function readTimesOf({ logicalTime, sentAtMs }: Answer): ReadTimes {
  return { logicalTime, sentAtMs, receivedAtMs: systemClock.now() };
}
