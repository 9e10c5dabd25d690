import { randomBytes } from 'node:crypto';
import { parseLongIntegers } from '../../lib/exact-json.ts';
import { runInExtension } from '../../lib/extension-code.ts';
import { reasonOf } from '../../lib/reason-of.ts';
import { isJsonContent } from './answer-body.ts';
import { AdapterError } from './errors.ts';
import type { Answer, Exchange, WireCall } from './exchange.ts';
import type { GatewayAdapter } from './gateway-adapter.ts';
import { isRow, type Row } from './wire/scalars.ts';

export interface LoadedAdapter {
  /** Its file, without folders and ending. */
  readonly name: string;
  readonly adapter: GatewayAdapter;
  /** A digest of the file's bytes; null where other files are part of it, so that no other process surely reads alike. */
  readonly digest: string | null;
}

type Part = 'request' | 'answer';

/** Called with each fault of an adapter's file. */
export type OnAdapterFault = (file: string, part: Part, operation: string, error: unknown) => void;

type Sent = Pick<WireCall, 'path' | 'headers' | 'body'>;

export type CallAdapter = ReturnType<typeof createCallAdapter>;

/**
 * Translates calls and answers by a team's file. A fault of it costs that call: thrown by `request` before anything is sent,
 * or an answer that is none, which proves nothing and leaves an order unknown.
 */
export function createCallAdapter(
  { name, adapter }: Omit<LoadedAdapter, 'digest'>,
  onFault: OnAdapterFault = () => {},
) {
  function contained<T>(part: Part, operation: string, work: () => T): T {
    try {
      return runInExtension(name, work);
    } catch (cause) {
      onFault(name, part, operation, cause);
      throw new AdapterError(`${name}: ${part}: ${reasonOf(cause)}`, { cause });
    }
  }

  return {
    request(call: WireCall): Sent {
      if (adapter.request === undefined) return call;
      return contained('request', call.operation, () => requestOf(adapter, call));
    },
    answer(call: WireCall, exchange: Exchange): Exchange {
      if (adapter.answer === undefined || !exchange.sent || !exchange.answered) return exchange;
      if (!isJsonContent(exchange.headers['content-type'])) return exchange;
      try {
        return contained('answer', call.operation, () => answerOf(adapter, call, exchange));
      } catch (cause) {
        const { logicalTime, sentAtMs } = exchange;
        return { sent: true, answered: false, reason: 'adapter', cause, logicalTime, sentAtMs };
      }
    },
  };
}

function requestOf(adapter: GatewayAdapter, call: WireCall): Sent {
  const { operation, row } = call;
  const secrets = new Secrets();
  const token = call.caller.token && !row.isAnonymous ? secrets.hide(call.caller.token.text) : null;
  const headers = shownHeaders(call.headers, secrets, token);
  const body =
    call.body === null ? null : secrets.hidden(JSON.parse(call.body), SECRETS[operation]);
  const given = { operation, path: row.path, headers, body };
  const changes = returned(adapter.request?.(given));
  if (!isRow(changes)) throw new TypeError('it returned no object');
  const unknown = Object.keys(changes).find((key) => !Object.hasOwn(given, key));
  if (unknown !== undefined) throw new TypeError(`${unknown} is not one of what may differ`);
  const { path = row.path, body: changed, headers: more = {} } = changes;
  if (changed !== undefined && changed !== null && body === null) {
    throw new TypeError('a request without a body was given one');
  }
  const sent = headersWith(headers, more);
  const text = changed === undefined || body === null ? call.body : jsonText(changed);
  // The answer proves something of the token that it was given for.
  const carriesToken = token === null || `${sent.join()}${text}`.includes(token);
  if (!carriesToken) throw new TypeError("the user's token has to go along");
  return {
    path: pathWith(row.path, call.path, path),
    headers: sent.map((each) => secrets.revealed(each)),
    body: text && secrets.revealed(text, asJson),
  };
}

function answerOf(adapter: GatewayAdapter, call: WireCall, answer: Answer): Answer {
  const secrets = new Secrets();
  let parsed: unknown;
  try {
    parsed = parseLongIntegers(answer.bytes.toString('utf8'), rawJson);
  } catch {
    // It is no JSON, and is judged as such.
    return answer;
  }
  const given =
    call.operation === 'login' ? secrets.hidden(parsed, TOKEN_NAME, LIKE_TOKEN) : parsed;
  const made = returned(adapter.answer?.(call.operation, given, answer.status));
  const { status, body } = isWithStatus(made) ? made : { status: answer.status, body: made };
  if (trust(status) > trust(answer.status)) {
    throw new RangeError(`status ${answer.status} cannot become ${status}`);
  }
  const bytes = Buffer.from(secrets.revealed(jsonText(body), asJson));
  if (bytes.length > call.maxBytes) throw new RangeError('the answer is larger than is accepted');
  return { ...answer, status, bytes };
}

/** What a function of the file returned; a promise would come too late, and its rejection is nobody's. */
function returned(value: unknown): unknown {
  if (value === undefined) throw new TypeError('it returned undefined');
  if (isRow(value) && typeof value.then === 'function') {
    Promise.resolve(value).catch(() => {});
    throw new TypeError('it returned a promise');
  }
  return value;
}

function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError('it returned what JSON does not carry');
  return text;
}

const asJson = (secret: string) => JSON.stringify(secret).slice(1, -1);

/** TypeScript does not know it yet: JSON.stringify writes what it returns as it came. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(digits: string): unknown };

function isWithStatus(value: unknown): value is { status: number; body: unknown } {
  return isRow(value) && Object.keys(value).toSorted().join() === 'body,status';
}

/** How far an answer is believed. A lower one ends sessions, or leaves doubt about an order; a higher one would hide that. */
function trust(status: number): number {
  if (!Number.isInteger(status) || status < 200 || status > 599) return Number.POSITIVE_INFINITY;
  if (status < 300) return 4;
  if (status === 401) return 0;
  if (status === 403) return 1;
  return status >= 400 && status < 500 ? 3 : 2;
}

/** Fields of bodies, and of a sign-in's answer, whose texts are kept from the file. */
const SECRETS: Readonly<Record<string, RegExp>> = {
  login: /^password$/,
  registerDevice: /^token$/,
};
const TOKEN_NAME = /token|jwt|secret/i;
const LIKE_TOKEN = /^[\w+/=~.-]{32,}$/;

/** Nobody can guess a placeholder, or a client could name one in an order's comment. */
const PLACE = `secret-${randomBytes(12).toString('hex')}-`;
const PLACES = new RegExp(`${PLACE}(\\d+)-`, 'g');

class Secrets {
  readonly #values: string[] = [];

  hide(value: string): string {
    return `${PLACE}${this.#values.push(value) - 1}-`;
  }

  /** A JSON value with a placeholder for each text under such a name, or of such a form. */
  hidden(value: unknown, name: RegExp | undefined, form?: RegExp): unknown {
    if (name === undefined || typeof value !== 'object' || value === null) return value;
    for (const [key, each] of Object.entries(value)) {
      const isSecret = typeof each === 'string' && (name.test(key) || form?.test(each));
      (value as Record<string, unknown>)[key] = isSecret
        ? this.hide(each)
        : this.hidden(each, name, form);
    }
    return value;
  }

  revealed(text: string, write: (secret: string) => string = String): string {
    return text.replace(PLACES, (_, at) => write(this.#values[at] ?? ''));
  }
}

const PLAIN_HEADERS = new Set(['accept', 'accept-encoding', 'content-type', 'if-none-match']);

function shownHeaders(pairs: readonly string[], secrets: Secrets, token: string | null) {
  const shown: Record<string, string> = {};
  for (let at = 0; at < pairs.length; at += 2) {
    const [name = '', value = ''] = [pairs[at], pairs[at + 1]];
    if (name === 'authorization') shown[name] = `Bearer ${token}`;
    else shown[name] = PLAIN_HEADERS.has(name) ? value : secrets.hide(value);
  }
  return shown;
}

// The connection's own headers are undici's to write.
const HEADER_NAME =
  /^(?!(?:connection|content-length|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$)[!#$%&'*+\-.^_`|~\da-z]+$/i;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function headersWith(given: Readonly<Record<string, string>>, more: unknown): string[] {
  if (!isRow(more)) throw new TypeError('headers are no object');
  const all: Row = { ...given, ...lowerCased(more) };
  return Object.entries(all).flatMap(([name, value]) => {
    if (value === null) return [];
    const isLegal = typeof value === 'string' && HEADER_VALUE.test(value) && HEADER_NAME.test(name);
    if (!isLegal) throw new TypeError(`the header ${name} cannot be sent`);
    return [name, value];
  });
}

function lowerCased(headers: Row): Row {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

const PARAMETER = /\{\w+\}/g;
/** A longer value would be another account's. */
const WITHIN_TEXT = /(?<![/=])\{(?:login|group|key)\}|\{(?:login|group|key)\}(?![/?&]|$)/;

/** The path that the file wants, with the values of the one that was asked for. */
function pathWith(template: string, path: string, wanted: unknown): string {
  const names: readonly string[] = template.match(PARAMETER) ?? [];
  const text = String(wanted);
  if ((text.match(PARAMETER) ?? []).toSorted().join() !== names.toSorted().join()) {
    throw new TypeError(`the path has to name ${names.join(' and ') || 'no parameter'} once`);
  }
  if (WITHIN_TEXT.test(text)) throw new TypeError('a parameter of the path has to stand alone');
  const [own = '', query] = path.split('?');
  const [, ...values] = new RegExp(`^${template.replace(PARAMETER, '([^/]+)')}$`).exec(own) ?? [];
  const filled = text.replace(PARAMETER, (name) => values[names.indexOf(name)] ?? '');
  const whole =
    query === undefined ? filled : `${filled}${filled.includes('?') ? '&' : '?'}${query}`;
  const { pathname, search } = new URL(whole, 'http://gateway');
  if (pathname + search !== whole)
    throw new TypeError('the path is none that can be sent as it is');
  return whole;
}
