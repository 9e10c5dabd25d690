import { callApp } from '../call-app.ts';
import type { Environment } from '../environment.ts';
import type { TradingGraphError } from '../errors.ts';
import type { Signal } from '../platform.ts';
import type { Result } from '../result.ts';
import { boundaryOf, PARTS, readParts, textsOf } from './answer-parts.ts';
import type { RequestedDocument } from './document.ts';
import {
  isObject,
  lateError,
  offlineError,
  protocolError,
  serverError,
  unreachableError,
  type WireError,
} from './failures.ts';
import { parseJson, resultOf } from './wire-result.ts';

/** Sends one request and reads its answer. It rejects if `leaving` throws, or if its own connection breaks. */
export type Exchanger = (environment: Environment, exchange: Exchange) => Promise<Result<unknown>>;

export interface Exchange {
  readonly url: string;
  readonly document: RequestedDocument;
  readonly variables: unknown;
  readonly token: string | null;
  /** GET is for trusted queries, which caches may answer. */
  readonly method: 'GET' | 'POST';
  /** The request is given up after this time without data. */
  readonly timeoutMs: number;
  readonly signal: Signal;
  /**
   * Called with the `Date` of an answer that the server has just made, and with the `uptime` when its request left and when
   * the answer arrived.
   */
  readonly onDate: (date: string, sentUp: number, arrivedUp: number) => void;
  /**
   * An exchanger that opens a connection first calls `leaving` right before it sends the request. If `leaving` throws, the
   * request is not sent.
   */
  readonly leaving?: (() => void) | undefined;
  /** If `onPart` is given, the answer may come in parts. */
  readonly onPart?: ((soFar: Result<unknown>) => void) | undefined;
}

// Bounds the time of an answer that arrives very slowly.
const MAX_WAITS = 20;
// Some servers and proxies refuse a longer address.
const MAX_URL_LENGTH = 2_000;
const ACCEPT = 'application/graphql-response+json, application/json;q=0.9';

/** Sends the request over HTTP, on a connection that the platform chooses. */
export async function exchange(
  environment: Environment,
  { url, document, variables, token, method, timeoutMs, signal, onDate, onPart }: Exchange,
): Promise<Result<unknown>> {
  const abort = new AbortController();
  const leave = () => abort.abort();
  let waits = 0;
  let hasNewData = true;
  let cancel = () => {};
  // If data is still arriving, the answer is only slow. A repeated request would cost more than the wait.
  const wait = () => {
    if (!hasNewData || waits === MAX_WAITS) return leave();
    waits += 1;
    hasNewData = false;
    cancel = environment.after(timeoutMs, wait);
  };
  wait();
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  const accept = onPart ? `${PARTS}, ${ACCEPT}` : ACCEPT;
  const headers: Record<string, string> = { accept };
  if (token !== null) headers.authorization = `Bearer ${token}`;
  try {
    const getUrl = method === 'GET' ? urlWithParameters(url, document, variables) : null;
    const isPost = getUrl === null || getUrl.length > MAX_URL_LENGTH;
    const sentUp = environment.uptime();
    const response = isPost
      ? await environment.fetch(url, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ ...document, variables: variables ?? undefined }),
          signal: abort.signal,
        })
      : await environment.fetch(getUrl, { headers, signal: abort.signal });
    const arrivedUp = environment.uptime();
    const onData = () => {
      hasNewData = true;
    };
    const report =
      onPart && ((soFar: Result<unknown>) => callApp(environment, () => onPart(soFar)));
    const body = await bodyOf(response, onData, report);
    // A cache may answer a GET, with an old date.
    const reportDate = (date: string) => isPost && onDate(date, sentUp, arrivedUp);
    return readAnswer(url, response, body, reportDate);
  } catch (thrown) {
    if (abort.signal.aborted) return failed(lateError(thrown));
    const isOffline = environment.lifecycle.isOnline === false;
    return failed(isOffline ? offlineError(thrown) : unreachableError(url, thrown));
  } finally {
    cancel();
    signal.removeEventListener('abort', leave);
  }
}

async function bodyOf(
  response: Response,
  onData: () => void,
  onPart: Exchange['onPart'],
): Promise<unknown> {
  const boundary = onPart ? boundaryOf(response) : null;
  if (boundary === null) return parseJson(await textOf(response, onData));
  const requestId = response.headers.get('x-request-id');
  return readParts(response, boundary, (soFar) => {
    onData();
    onPart?.(resultOf(soFar, requestId));
  });
}

/** Reads the body, and reports when data arrives. */
async function textOf(response: Response, onData: () => void): Promise<string> {
  let text = '';
  onData();
  for await (const piece of textsOf(response)) {
    onData();
    text += piece;
  }
  return text;
}

/** The answer of a request that failed as a whole. */
export function failed(error: Result<unknown>['errors'][number]): Result<never> {
  return { data: null, errors: [error] };
}

function urlWithParameters(url: string, document: RequestedDocument, variables: unknown): string {
  const given = variables !== undefined && { variables: JSON.stringify(variables) };
  // The constructor gets all parameters, because `URLSearchParams.set` throws in React Native.
  const parameters = new URLSearchParams({ ...document, ...given });
  return `${url}${url.includes('?') ? '&' : '?'}${parameters}`;
}

function readAnswer(
  url: string,
  { status, headers, redirected, url: address }: Response,
  body: unknown,
  reportDate: (date: string) => void,
): Result<unknown> {
  // A platform that follows a redirect may send a GET without the body, so the answer has no data.
  if (redirected && !Object(body).data) return failed(redirectedError(url, address));
  const requestId = headers.get('x-request-id');
  const retryAfter = secondsOf(headers.get('retry-after'));
  if (!isObject(body) || !('data' in body || Array.isArray(body.errors))) {
    return failed(serverError(notGraphQL(url, status), requestId, retryAfter));
  }
  // Each answer of this server has a request id, which those of portals and caches lack.
  const date = headers.get('date');
  const isFromCache = Boolean(Number(headers.get('age')));
  if (date && requestId && !isFromCache) reportDate(date);
  const result = resultOf(body, requestId, retryAfter);
  if (result.data !== null || result.errors.length > 0) return result;
  return failed(protocolError('The answer has neither data nor errors.', { requestId }));
}

function redirectedError(url: string, address: string): TradingGraphError {
  const endpoint = address.replace(/\?.*/, '');
  const message = `${url} is redirected to ${endpoint}: use that as \`url\`.`;
  const extensions = { code: 'NETWORK', retryable: true, url: endpoint };
  return serverError({ message, extensions }, null);
}

// The service answers only with GraphQL. So either the address is wrong, or a proxy or a portal has sent this page. Such a
// page says nothing about the token, and a later request may get an answer.
function notGraphQL(url: string, status: number): WireError {
  const isTemporary = status >= 500 || [408, 425, 429].includes(status);
  const question = isTemporary ? '.' : `: is ${url} its endpoint?`;
  return {
    message: `The answer is not GraphQL (HTTP ${status})${question}`,
    extensions: { code: 'NETWORK', retryable: true, ...(!isTemporary && { url }) },
  };
}

function secondsOf(header: string | null): number | null {
  return header !== null && /^\d+$/.test(header) ? Number(header) : null;
}
