import type {
  Acknowledgement,
  CatalogAnswer,
  PositionsAnswer,
  Sent,
  SessionAnswer,
} from './answers.ts';
import type { Caller } from './caller.ts';
import type { Answer, Exchange } from './exchange.ts';
import { contractError, jsonOf, judgeRead, judgeSignIn, judgeWrite } from './judge.ts';
import type { LimitOrder, MarketOrder, WithdrawalMethod } from './model.ts';
import type { OperationName } from './operations.ts';
import { limitOrderBody, marketOrderBody } from './order-body.ts';
import type { PathValues } from './path.ts';
import {
  type RequestSettings,
  type RequestTemplate,
  requestTemplates,
} from './request-templates.ts';
import {
  type LoginGrant,
  type Refusal,
  toCustomerId,
  toLoginGrant,
  toRefusal,
  toWithdrawalMethods,
} from './wire/answers.ts';
import { toInstruments } from './wire/catalog.ts';
import { toPositions } from './wire/holding.ts';
import { isRow, type TimeUnit } from './wire/scalars.ts';
import { toSession } from './wire/session.ts';
import type { Send } from './wire-call.ts';

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

/** The gateway's 15 operations, one method each. Reads throw a GatewayError; an order returns its outcome. */
export class GatewayClient {
  readonly #options: GatewayClientOptions;
  readonly #plans: Readonly<Record<OperationName, RequestTemplate>>;

  constructor(options: GatewayClientOptions) {
    this.#options = options;
    this.#plans = requestTemplates(options);
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
    const rows = jsonOf(answer);
    if (!Array.isArray(rows)) throw contractError(operation, 'no list of instruments');
    return {
      modified: true,
      ...(await toInstruments(rows)),
      etag: entityTag(answer.headers.etag),
      headers: answer.headers,
      ...sent,
    };
  }

  async login(caller: Caller, email: string, password: string): Promise<LoginGrant | Refusal> {
    const operation = 'login';
    const answer = judgeSignIn(
      operation,
      await this.#call(operation, tokenless(caller), { body: { email, password } }),
    );
    if (!('bytes' in answer)) return answer;
    const body = jsonOf(answer);
    const grant = toLoginGrant(body);
    if (grant) return grant;
    if (isRow(body) && typeof body.error === 'string') return toRefusal(body);
    throw contractError(operation, 'neither a token nor an error');
  }

  async forgotPassword(caller: Caller, email: string): Promise<Acknowledgement> {
    const operation = 'forgotPassword';
    const exchange = await this.#call(operation, tokenless(caller), { body: { email } });
    // Here a 401 or 403 is not about a token: it refuses the request, like any other 4xx.
    if (exchange.sent && exchange.answered && [401, 403].includes(exchange.status)) {
      return { outcome: 'rejected', refusal: toRefusal(jsonOf(exchange)) };
    }
    if (exchange.sent && exchange.answered && exchange.status < 300) {
      const body = jsonOf(exchange);
      if (isRow(body) && body.success !== true && typeof body.error === 'string') {
        return { outcome: 'rejected', refusal: toRefusal(body) };
      }
    }
    return judgeWrite(operation, exchange);
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

  async getWithdrawalMethods(caller: Caller): Promise<readonly WithdrawalMethod[]> {
    const operation = 'getWithdrawalMethods';
    const methods = toWithdrawalMethods(
      jsonOf(bodyOf(operation, await this.#call(operation, caller))),
    );
    if (methods === null) throw contractError(operation, 'no list of lists of methods');
    return methods;
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

  async getCustomerId(caller: Caller): Promise<string> {
    const operation = 'getCustomerId';
    const id = toCustomerId(jsonOf(bodyOf(operation, await this.#call(operation, caller))));
    if (id === null) throw contractError(operation, 'no customer id');
    return id;
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
    const plan = this.#plans[operation];
    return this.#options.send({
      operation,
      path: plan.path(path),
      headers: plan.headers(caller, headers),
      body: body === undefined ? null : JSON.stringify(body),
      deadlineMs: plan.deadlineMs,
      maxBytes: plan.maxBytes,
      caller,
    });
  }
}

function bodyOf(operation: OperationName, exchange: Exchange): Answer {
  const answer = judgeRead(operation, exchange);
  if (answer.status === 304) throw contractError(operation, 'an unrequested 304');
  return answer;
}

/** A client that signs in is anonymous, whatever token the request came with. */
function tokenless(caller: Caller): Caller {
  return { ...caller, token: null };
}

/** `If-None-Match` must be a legal header, or no catalog could be requested again. */
function entityTag(header: string | undefined): string | null {
  return header !== undefined && /^(?!\*$)[\x21-\x7e]+$/.test(header) ? header : null;
}

function sentOf({ sequence, sentAtMs }: Answer): Sent {
  return { sequence, sentAtMs, receivedAtMs: Date.now() };
}
