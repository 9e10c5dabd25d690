import { createHttpFetcher, operationOf, subscribe } from '../src/graphiql.js';
import { isConfirmed } from './confirmation.js';

/**
 * @typedef {import('./types.d.ts').Operation} Operation
 * @typedef {import('./types.d.ts').GraphQLResult} GraphQLResult
 * @typedef {import('./types.d.ts').SignIn} SignIn
 * @typedef {import('./answer-line.js').AnswerLine} AnswerLine
 */

/**
 * Sends GraphiQL's operations with the account's token. A token in the Headers pane takes precedence. Failures are returned
 * as GraphQL errors, because GraphiQL shows thrown errors with their stack.
 *
 * @param {object} parts
 * @param {string} parts.endpoint
 * @param {RequestCredentials} parts.credentials
 * @param {readonly string[]} parts.confirmedFields
 * @param {SignIn} parts.signIn
 * @param {AnswerLine} parts.answers
 */
export function createFetcher({ endpoint, credentials, confirmedFields, signIn, answers }) {
  /**
   * @param {Operation} params
   * @param {{ headers?: Readonly<Record<string, unknown>> }} [options]
   */
  return async function fetchOperation({ query, variables, operationName }, options = {}) {
    const operation = operationOf(query, operationName);
    const name = operation === null ? operationName : operation.name;
    const params = { query, ...(variables && { variables }), operationName: name ?? null };
    const isIntrospection = operationName === 'IntrospectionQuery';
    if (!(await isConfirmed(query, operation?.kind, confirmedFields))) {
      return failure('It was not sent.');
    }
    const answer = isIntrospection ? null : answers.begin(name ?? 'Operation');
    try {
      const headers = await headersOf(signIn, options.headers ?? {});
      const authorization = headers.get('authorization');
      if (operation?.kind === 'subscription') {
        // Without a scheme the server would take the token of the cookie, which a browser sends with every socket.
        return countEvents(subscribe(endpoint, authorization ?? 'Bearer', params), answer);
      }
      const send = createHttpFetcher(endpoint, async (url, init) => {
        const response = await fetch(url, { ...init, credentials });
        // Reads a copy, because GraphiQL reads the answer itself, in parts.
        const copy = response.clone();
        copy.text().then(
          (text) => {
            answer?.end(response, text);
            if (authorization !== null && text.includes('"UNAUTHENTICATED"')) {
              signIn.refused(authorization);
            }
          },
          () => {},
        );
        return response;
      });
      return await send(params, Object.fromEntries(headers));
    } catch (error) {
      answer?.fail();
      return failure(error);
    }
  };
}

/**
 * The events of a subscription, which the status line counts. It is no generator: a stopped generator would wait for the
 * next event.
 *
 * @param {AsyncIterableIterator<GraphQLResult>} events
 * @param {ReturnType<AnswerLine['begin']> | null} answer
 * @returns {AsyncIterableIterator<GraphQLResult>}
 */
function countEvents(events, answer) {
  let isOver = false;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      try {
        const event = await events.next();
        if (isOver) return ENDED;
        if (event.done) answer?.complete();
        else answer?.count(event.value);
        isOver = event.done ?? false;
        return event;
      } catch (error) {
        if (isOver) return ENDED;
        isOver = true;
        answer?.fail();
        return { done: false, value: failure(error) };
      }
    },
    async return() {
      isOver = true;
      answer?.stop();
      await events.return?.();
      return ENDED;
    },
  };
}

/** @type {IteratorReturnResult<undefined>} */
const ENDED = { done: true, value: undefined };

/**
 * @param {SignIn} signIn
 * @param {Readonly<Record<string, unknown>>} own
 */
async function headersOf(signIn, own) {
  const headers = new Headers();
  for (const [name, value] of Object.entries(own)) headers.set(name, String(value));
  if (!headers.has('accept')) {
    headers.set('accept', 'multipart/mixed;deferSpec=20220824, application/json;q=0.9');
  }
  if (headers.has('authorization')) return headers;
  const authorization = await signIn.authorization();
  if (authorization !== null) headers.set('authorization', authorization);
  return headers;
}

/**
 * @param {unknown} error An error, or the event of a socket that was closed.
 * @returns {GraphQLResult}
 */
function failure(error) {
  if (error instanceof TypeError) {
    const why = navigator.onLine ? 'The server cannot be reached' : 'You are offline';
    return { errors: [{ message: `${why}: ${error.message}` }] };
  }
  if (Array.isArray(error)) return { errors: error };
  if (error instanceof Error) return { errors: [{ message: error.message }] };
  const { code, reason } = Object(error);
  if (code === undefined) return { errors: [{ message: String(error) }] };
  return { errors: [{ message: `The socket was closed: ${code} ${reason}`.trim() }] };
}
