const RESPONSE = 'application/graphql-response+json';
const PLAIN = 'application/json';
const EVENTS = 'text/event-stream';

type Kind = 'query' | 'subscription';

/** The headers of a GraphQL client that determine the format of its request and of the response. */
export interface ClientRequest {
  readonly client: string;
  readonly version: string;
  readonly method: 'GET' | 'POST';
  readonly kind: Kind;
  readonly accept: string | undefined;
  readonly contentType: string | undefined;
  /** The media type of the response that GraphQL over HTTP requires. */
  readonly media: typeof RESPONSE | typeof PLAIN | typeof EVENTS;
}

const ofUrql = `${RESPONSE}, application/graphql+json, ${PLAIN}, ${EVENTS}, multipart/mixed`;
const urqlEvents = `${EVENTS}, multipart/mixed`;
const both = `${RESPONSE}, ${PLAIN}`;
const weighed = `${RESPONSE},${PLAIN};q=0.9`;
const relay = `${RESPONSE}; charset=utf-8, ${PLAIN}; charset=utf-8`;
const deferringPlain = `multipart/mixed; deferSpec=20220824, ${PLAIN}`;
const deferring = `multipart/mixed;deferSpec=20220824, ${both}`;
const events = `${both}, ${EVENTS}`;
const utf8 = `${PLAIN}; charset=utf-8`;

/** Captured on 2026-11-21. The `fetch` of browsers sends the same two headers as Node's. */
export const CLIENT_REQUESTS: readonly ClientRequest[] = [
  client('Apollo Client', '3.14.1', 'POST', '*/*', PLAIN, PLAIN),
  client('Apollo Client', '3.14.1', 'GET', '*/*', PLAIN, PLAIN),
  client('Apollo Client', '4.3.8', 'POST', weighed, PLAIN, RESPONSE),
  client('Apollo Client', '4.3.8', 'GET', weighed, PLAIN, RESPONSE),
  client('@urql/core', '6.0.3', 'POST', ofUrql, PLAIN, RESPONSE),
  client('@urql/core', '6.0.3', 'GET', ofUrql, undefined, RESPONSE),
  client('@urql/core', '6.0.3', 'POST', urqlEvents, PLAIN, EVENTS, 'subscription'),
  client('graphql-request', '7.4.0', 'POST', both, PLAIN, RESPONSE),
  client('graphql-request', '7.4.0', 'GET', both, undefined, RESPONSE),
  client('graphql-http', '1.23.1', 'POST', both, utf8, RESPONSE),
  client('graphql-sse', '2.6.1', 'POST', EVENTS, utf8, EVENTS, 'subscription'),
  client('trading-graph-client', 'here', 'POST', `${RESPONSE}, ${PLAIN};q=0.9`, PLAIN, RESPONSE),
  client('trading-graph-client', 'here', 'POST', EVENTS, PLAIN, EVENTS, 'subscription'),
  client('EventSource', 'eventsource 4.1.1', 'GET', EVENTS, undefined, EVENTS, 'subscription'),
  client('fetch', 'Node 26.10', 'POST', '*/*', PLAIN, PLAIN),
  client('curl', '7.88.1', 'POST', '*/*', PLAIN, PLAIN),
  client('curl --json', '7.88.1', 'POST', PLAIN, PLAIN, PLAIN),
  client('curl -N, asking for events', '7.88.1', 'POST', EVENTS, PLAIN, EVENTS, 'subscription'),
  client('a client without an Accept', '–', 'POST', undefined, PLAIN, PLAIN),
  // The following are taken from the source or documentation of the client. The others were sent by the client itself.
  client('Relay, its quick start', '21', 'POST', relay, PLAIN, RESPONSE),
  client('Apollo iOS', '1 and 2', 'POST', deferring.replaceAll(', ', ','), PLAIN, RESPONSE),
  client('Apollo Kotlin', '4', 'POST', deferring, PLAIN, RESPONSE),
  client('Apollo Kotlin', '3', 'POST', deferringPlain, PLAIN, PLAIN),
  client('Strawberry Shake', '13', 'POST', events, utf8, RESPONSE),
  client('Strawberry Shake', '13', 'POST', events, utf8, EVENTS, 'subscription'),
];

function client(
  name: string,
  version: string,
  method: ClientRequest['method'],
  accept: string | undefined,
  contentType: string | undefined,
  media: ClientRequest['media'],
  kind: Kind = 'query',
): ClientRequest {
  return { client: name, version, method, kind, accept, contentType, media };
}
