import { isConfirmed } from './confirmation.js';
import { deferredParts } from './deferred-parts.js';
import { isEventStream, resumedEvents } from './resumed-events.js';

/**
 * @typedef {import('./types.d.ts').Answer} Answer
 * @typedef {import('./types.d.ts').Operation} Operation
 * @typedef {import('./types.d.ts').GraphQLResult} GraphQLResult
 * @typedef {import('./types.d.ts').FetcherOptions} FetcherOptions
 * @typedef {import('./resumed-events.js').Connect} Connect
 * @typedef {import('./types.d.ts').Post} Post
 * @typedef {import('./types.d.ts').SignIn} SignIn
 * @typedef {import('./answer-bar.js').AnswerBar} AnswerBar
 */

/**
 * Sends GraphiQL's operations. The text goes to the server as it is, and failures come back as
 * GraphQL errors: one that is thrown would be shown with its stack.
 *
 * @param {{ post: Post, confirmedFields: readonly string[], signIn: SignIn, answers: AnswerBar, EventStreamReader: import('./resumed-events.js').EventStreamReader }} parts
 */
export function createFetcher({ post, confirmedFields, signIn, answers, EventStreamReader }) {
  const line = new Line();
  /**
   * @param {Operation} operation
   * @param {FetcherOptions} [options]
   */
  return async function fetchOperation({ query, variables, operationName }, options = {}) {
    const isIntrospection = operationName === 'IntrospectionQuery';
    const chosen = chosenOperation(query, operationName);
    const name = chosen ?? 'Operation';
    const account = () => accountOf(post, signIn, options);
    const asked = { query, operationName: chosen ?? null, ...(variables && { variables }) };
    if (!(await isConfirmed(asked, confirmedFields, account))) return failure('It was not sent.');
    if (isIntrospection) await line.isFree();
    const startedMs = performance.now();
    const report = (
      /** @type {Pick<Answer, 'status' | 'statusText' | 'bytes' | 'requestId' | 'result'>} */ answer,
    ) => {
      const ms = performance.now() - startedMs;
      if (!isIntrospection) answers.show({ name, ms, ...answer });
      return answer.result;
    };
    try {
      const headers = await headersOf(signIn, options);
      const resumable = /\bafter\s*:\s*\$(\w+)/.exec(query)?.[1];
      /** @type {Connect} */
      const connect = (signal, cursor) => {
        const given = resumable && cursor ? { ...variables, [resumable]: cursor } : variables;
        const body = JSON.stringify({ query, variables: given, operationName: chosen });
        return post(headers, body, signal);
      };
      const stop = new AbortController();
      const response = await line.busyWith(connect(stop.signal, null));
      // Nothing else may be sent twice.
      const subscription = new RegExp(`\\bsubscription\\s*(${name}\\b|[{@(])`);
      if (isEventStream(response) && subscription.test(query.replaceAll(/#.*/g, ''))) {
        const log = answers.openStream(name);
        const onResult = reportRefusal.bind(null, signIn, headers);
        return resumedEvents({ response, line: stop, connect, log, onResult, EventStreamReader });
      }
      const { status, statusText } = response;
      const requestId = response.headers.get('x-request-id');
      /** @type {(result: GraphQLResult, bytes: number) => Promise<void>} */
      const onWhole = async (result, bytes) => {
        await reportRefusal(signIn, headers, result);
        report({ status, statusText, bytes, requestId, result });
      };
      if (isEventStream(response)) return deferredParts(response, new EventStreamReader(), onWhole);
      const bytes = await line.busyWith(response.arrayBuffer());
      const result = resultOf(bytes, response);
      await onWhole(result, bytes.byteLength);
      return result;
    } catch (error) {
      const result = failure(error);
      return report({ status: null, statusText: '', bytes: 0, requestId: null, result });
    }
  };
}

const MAX_WAIT_MS = 2_000;

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The connection to the server. On a slow one the schema, and the help that follows it, would keep the first query waiting. */
class Line {
  /** @type {Promise<unknown>} */
  #last = Promise.resolve();

  /**
   * @template Result
   * @param {Promise<Result>} answer
   */
  busyWith(answer) {
    this.#last = answer.catch(() => {});
    return answer;
  }

  /** A quarter of the time that the page took to come, and until what was asked for meanwhile has an answer. */
  async isFree() {
    await pause(Math.min(performance.now() / 4, MAX_WAIT_MS));
    // The schema comes also where an answer does not.
    await Promise.race([this.#last, pause(MAX_WAIT_MS)]);
  }
}

/**
 * The operation to execute. Just after a change of tabs GraphiQL still has the name of the former
 * tab's, which the query then lacks.
 *
 * @param {string} query
 * @param {string | null | undefined} operationName
 */
function chosenOperation(query, operationName) {
  const text = query.replaceAll(/#.*/g, '');
  const names = [...text.matchAll(/\b(?:query|mutation|subscription)\s+([_A-Za-z]\w*)/g)];
  const isThere = names.some(([, name]) => name === operationName);
  return isThere ? operationName : names[0]?.[1];
}

/**
 * A token in the Headers pane takes precedence over the chosen user's.
 *
 * @param {SignIn} signIn
 * @param {FetcherOptions} options
 */
async function headersOf(signIn, options) {
  const own = new Headers();
  for (const [name, value] of Object.entries(options.headers ?? {})) own.set(name, String(value));
  const headers = new Headers({
    'content-type': 'application/json',
    // The server answers with what fits the operation: one result, or events of a subscription.
    accept: 'application/graphql-response+json, application/json, text/event-stream',
  });
  if (!own.has('authorization')) {
    const authorization = await signIn.authorization();
    if (authorization !== null) headers.set('authorization', authorization);
  }
  own.forEach((value, name) => {
    headers.set(name, value);
  });
  return headers;
}

/**
 * Whose account an operation would be sent for. The server says so, since a token's claims are its own words.
 *
 * @param {Post} post
 * @param {SignIn} signIn
 * @param {FetcherOptions} options
 */
async function accountOf(post, signIn, options) {
  const headers = await headersOf(signIn, options);
  const body = JSON.stringify({ query: '{ session { login currency } }' });
  const response = await post(headers, body);
  const { data, errors } = await response.json();
  const { login, currency } = data?.session ?? {};
  if (login) return currency ? `${login}, in ${currency}` : String(login);
  return `not known: ${errors?.[0]?.message ?? `status ${response.status}`}`;
}

/**
 * @param {ArrayBuffer} bytes
 * @param {Response} response
 * @returns {GraphQLResult}
 */
function resultOf(bytes, { status }) {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return { errors: [{ message: `The server answered ${status} without JSON.` }] };
  }
}

/**
 * @param {SignIn} signIn
 * @param {Headers} headers
 * @param {GraphQLResult} result
 */
async function reportRefusal(signIn, headers, { errors }) {
  const authorization = headers.get('authorization');
  const isRefused = errors?.some(({ extensions }) => extensions?.code === 'UNAUTHENTICATED');
  if (isRefused && authorization !== null) await signIn.refused(authorization);
}

/**
 * @param {unknown} error
 * @returns {GraphQLResult}
 */
function failure(error) {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof TypeError)) return { errors: [{ message }] };
  const why = navigator.onLine ? 'The server cannot be reached' : "You're offline";
  return { errors: [{ message: `${why}: ${message}` }] };
}
