import { jsonItems } from '../lib/json-items.ts';
import type {
  Acknowledgement,
  CatalogAnswer,
  PositionsAnswer,
  Sent,
  SessionAnswer,
} from './answers.ts';
import type { Caller } from './caller.ts';
import type { Answer, Exchange, Send } from './exchange.ts';
import { contractError, isJsonType, jsonOf, judgeRead, judgeSignIn, judgeWrite } from './judge.ts';
import type { LimitOrder, MarketOrder } from './model.ts';
import type { OperationName } from './operations.ts';
import { limitOrderBody, marketOrderBody } from './order-body.ts';
import type { PathValues } from './path.ts';
import type { Read } from './read.ts';
import {
  type RequestSettings,
  type RequestTemplate,
  requestTemplates,
} from './request-templates.ts';
import type { GatewayRefusal, LoginGrant } from './wire/bodies.ts';
import { toInstruments } from './wire/catalog.ts';
import { toPositions } from './wire/holding.ts';
import { isRow, type TimeUnit } from './wire/scalars.ts';
import { toSession } from './wire/session.ts';

export interface GatewayClientOptions extends RequestSettings {
  readonly send: Send;
  readonly directionField: string;
  readonly mobileWallet: string;
  readonly timeUnit: TimeUnit;
}

export interface DeviceRegistration {
  readonly deviceId: string;
  readonly token?: string;
  readonly platform?: string;
  readonly enabled?: boolean;
}

interface CallDetails {
  readonly path?: PathValues;
  readonly body?: unknown;
  /** Names and values alternate. */
  readonly headers?: readonly string[];
}

const NO_DETAILS: CallDetails = { path: {}, headers: [] };

/**
 * The gateway's operations: `read` for those that need only a viewer, a method for each of the others. Reads
 * throw a GatewayError; an order returns its outcome.
 */
export class GatewayClient {
  readonly #options: GatewayClientOptions;
  readonly #templates: Readonly<Record<OperationName, RequestTemplate>>;

  constructor(options: GatewayClientOptions) {
    this.#options = options;
    this.#templates = requestTemplates(options);
  }

  async read<T>(
    caller: Caller,
    { operation, map, expected }: Read<T>,
    path: PathValues,
  ): Promise<T> {
    const answer = bodyOf(operation, await this.#call(operation, caller, { path }));
    const value = map(jsonOf(answer), this.#options.timeUnit);
    if (value === null) throw contractError(operation, `no ${expected}`);
    return value;
  }

  async getAllTickers(caller: Caller, group: string, etag: string | null): Promise<CatalogAnswer> {
    const operation = 'getAllTickers';
    const headers = ['accept-encoding', 'gzip'];
    if (etag !== null) headers.push('if-none-match', etag);
    const answer = judgeRead(
      operation,
      await this.#call(operation, caller, { path: { group }, headers }),
    );
    const sent = sentOf(answer);
    if (answer.status === 304) {
      if (etag === null) throw contractError(operation, 'an unrequested 304');
      return { modified: false, headers: answer.headers, ...sent };
    }
    return {
      modified: true,
      ...(await instrumentsOf(operation, answer)),
      etag: entityTag(answer.headers.etag),
      headers: answer.headers,
      ...sent,
    };
  }

  async login(
    caller: Caller,
    email: string,
    password: string,
  ): Promise<LoginGrant | GatewayRefusal> {
    const operation = 'login';
    return judgeSignIn(
      operation,
      await this.#call(operation, caller, { body: { email, password } }),
    );
  }

  forgotPassword(caller: Caller, email: string): Promise<Acknowledgement> {
    return this.#write('forgotPassword', caller, { body: { email } });
  }

  openPosition(caller: Caller, order: MarketOrder): Promise<Exchange> {
    const body = marketOrderBody(order, this.#options.directionField);
    return this.#call('openPosition', caller, { body });
  }

  placeLimitOrder(caller: Caller, order: LimitOrder): Promise<Exchange> {
    const body = limitOrderBody(order, this.#options.directionField);
    return this.#call('placeLimitOrder', caller, { body });
  }

  resetTradingAccountPassword(caller: Caller, accountExternalId: string) {
    return this.#write('resetTradingAccountPassword', caller, {
      body: { account_external_id: accountExternalId },
    });
  }

  addCryptoWallet(caller: Caller, address: string): Promise<Acknowledgement> {
    return this.#write('addCryptoWallet', caller, { body: { address } });
  }

  addMobileWallet(caller: Caller, phone: string): Promise<Acknowledgement> {
    const path = { provider: this.#options.mobileWallet };
    return this.#write('addMobileWallet', caller, { path, body: { phone } });
  }

  setValue(caller: Caller, key: string, value: unknown): Promise<Acknowledgement> {
    return this.#write('setValue', caller, { path: { key }, body: { value } });
  }

  async getSession(caller: Caller, login: string): Promise<SessionAnswer> {
    const operation = 'getSession';
    const answer = bodyOf(operation, await this.#call(operation, caller, { path: { login } }));
    const session = toSession(jsonOf(answer), login, this.#options.timeUnit);
    if (session === null) throw contractError(operation, 'no snapshot of this login');
    return { session, ...sentOf(answer) };
  }

  /** Memoized: equal bytes mean equal positions, so nothing is parsed on this hot path. */
  async getOpenPositions(
    caller: Caller,
    previous: PositionsAnswer | null,
  ): Promise<PositionsAnswer> {
    const operation = 'getOpenPositions';
    const answer = bodyOf(operation, await this.#call(operation, caller));
    const { bytes } = answer;
    if (previous?.bytes.equals(bytes)) return { ...previous, ...sentOf(answer) };
    const body = jsonOf(answer);
    const list = isRow(body) ? toPositions(body.positions, this.#options.timeUnit) : null;
    if (list === null) throw contractError(operation, 'no whole list of positions');
    return { positions: list, bytes, ...sentOf(answer) };
  }

  markNotificationsRead(caller: Caller, ids: readonly number[]): Promise<Acknowledgement> {
    return this.#write('markNotificationsRead', caller, { body: { ids } });
  }

  registerDevice(caller: Caller, device: DeviceRegistration): Promise<Acknowledgement> {
    return this.#write('registerDevice', caller, { body: device });
  }

  async #write(
    operation: OperationName,
    caller: Caller,
    details: CallDetails,
  ): Promise<Acknowledgement> {
    return judgeWrite(operation, await this.#call(operation, caller, details));
  }

  #call(
    operation: OperationName,
    caller: Caller,
    { path = {}, body, headers = [] }: CallDetails = NO_DETAILS,
  ): Promise<Exchange> {
    const template = this.#templates[operation];
    const sender = template.isAnonymous ? { ...caller, token: null } : caller;
    return this.#options.send({
      operation,
      path: template.path(path),
      headers: template.headers(sender, headers),
      body: body === undefined ? null : JSON.stringify(body),
      deadlineMs: template.deadlineMs,
      maxBytes: template.maxBytes,
      caller: sender,
    });
  }
}

function bodyOf(operation: OperationName, exchange: Exchange): Answer {
  const answer = judgeRead(operation, exchange);
  if (answer.status === 304) throw contractError(operation, 'an unrequested 304');
  return answer;
}

async function instrumentsOf(operation: OperationName, { headers, bytes }: Answer) {
  const noList = contractError(operation, 'no list of instruments');
  if (!isJsonType(headers['content-type'])) throw noList;
  try {
    return await toInstruments(jsonItems(bytes));
  } catch (error) {
    throw error instanceof SyntaxError ? noList : error;
  }
}

/** `If-None-Match` must be a legal header, or no catalog could be requested again. */
function entityTag(header: string | undefined): string | null {
  return header !== undefined && /^(?!\*$)[\x21-\x7e]+$/.test(header) ? header : null;
}

function sentOf({ sequence, sentAtMs }: Answer): Sent {
  return { sequence, sentAtMs, receivedAtMs: Date.now() };
}
