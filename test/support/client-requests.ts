const RESPONSE = 'application/graphql-response+json';
const PLAIN = 'application/json';
const EVENTS = 'text/event-stream';

type Kind = 'query' | 'subscription';

/** The headers of a GraphQL client that decide about the form of its request and of the response. */
export interface ClientRequest {
  readonly client: string;
  readonly version: string;
  /** Where the headers were found: sent by the library itself, or read in its source or its documentation. */
  readonly by: 'capture' | 'source';
  readonly method: 'GET' | 'POST';
  readonly kind: Kind;
  readonly accept: string | undefined;
  readonly contentType: string | undefined;
  /** The media type that GraphQL over HTTP gives it. */
  readonly media: typeof RESPONSE | typeof PLAIN | typeof EVENTS;
}

const ofUrql = `${RESPONSE}, application/graphql+json, ${PLAIN}, ${EVENTS}, multipart/mixed`;
const urqlEvents = `${EVENTS}, multipart/mixed`;
const both = `${RESPONSE}, ${PLAIN}`;
const weighed = `${RESPONSE},${PLAIN};q=0.9`;
const relay = `${RESPONSE}; charset=utf-8, ${PLAIN}; charset=utf-8`;
const deferring = `multipart/mixed;deferSpec=20220824, ${both}`;
const utf8 = `${PLAIN}; charset=utf-8`;

/** As captured on 2026-11-21; browsers' `fetch` and Node's send the same two headers. */
export const CLIENT_REQUESTS: readonly ClientRequest[] = [
  captured('Apollo Client', '3.14.1', 'POST', '*/*', PLAIN, PLAIN),
  captured('Apollo Client', '3.14.1', 'GET', '*/*', PLAIN, PLAIN),
  captured('Apollo Client', '4.3.8', 'POST', weighed, PLAIN, RESPONSE),
  captured('Apollo Client', '4.3.8', 'GET', weighed, PLAIN, RESPONSE),
  captured('@urql/core', '6.0.3', 'POST', ofUrql, PLAIN, RESPONSE),
  captured('@urql/core', '6.0.3', 'GET', ofUrql, undefined, RESPONSE),
  captured('@urql/core', '6.0.3', 'POST', urqlEvents, PLAIN, EVENTS, 'subscription'),
  captured('graphql-request', '7.4.0', 'POST', both, PLAIN, RESPONSE),
  captured('graphql-request', '7.4.0', 'GET', both, undefined, RESPONSE),
  captured('graphql-http', '1.23.1', 'POST', both, utf8, RESPONSE),
  captured('graphql-sse', '2.6.1', 'POST', EVENTS, utf8, EVENTS, 'subscription'),
  captured('trading-graph-client', '0.1.0', 'POST', `${RESPONSE}, ${PLAIN};q=0.9`, PLAIN, RESPONSE),
  captured('trading-graph-client', '0.1.0', 'POST', EVENTS, PLAIN, EVENTS, 'subscription'),
  captured('EventSource', 'eventsource 4.1.1', 'GET', EVENTS, undefined, EVENTS, 'subscription'),
  captured('fetch', 'Node 26.10', 'POST', '*/*', PLAIN, PLAIN),
  captured('curl', '7.88.1', 'POST', '*/*', PLAIN, PLAIN),
  captured('curl --json', '7.88.1', 'POST', PLAIN, PLAIN, PLAIN),
  captured('curl -N, asking for events', '7.88.1', 'POST', EVENTS, PLAIN, EVENTS, 'subscription'),
  { ...captured('Relay, its quick start', '21', 'POST', relay, PLAIN, RESPONSE), by: 'source' },
  {
    ...captured('Apollo iOS', '1 and 2', 'POST', deferring.replaceAll(', ', ','), PLAIN, RESPONSE),
    by: 'source',
  },
  { ...captured('Apollo Kotlin', '4', 'POST', deferring, PLAIN, RESPONSE), by: 'source' },
  {
    ...captured(
      'Apollo Kotlin',
      '3',
      'POST',
      `multipart/mixed; deferSpec=20220824, ${PLAIN}`,
      PLAIN,
      PLAIN,
    ),
    by: 'source',
  },
  {
    ...captured('Strawberry Shake', '13', 'POST', `${both}, ${EVENTS}`, utf8, RESPONSE),
    by: 'source',
  },
  {
    ...captured(
      'Strawberry Shake',
      '13',
      'POST',
      `${both}, ${EVENTS}`,
      utf8,
      EVENTS,
      'subscription',
    ),
    by: 'source',
  },
  captured('a client without an Accept', '–', 'POST', undefined, PLAIN, PLAIN),
];

function captured(
  client: string,
  version: string,
  method: ClientRequest['method'],
  accept: string | undefined,
  contentType: string | undefined,
  media: ClientRequest['media'],
  kind: Kind = 'query',
): ClientRequest {
  return { client, version, by: 'capture', method, kind, accept, contentType, media };
}
