/** `Accept` as clients send it; test/support/client-requests.ts has more, and where each was found. */
export const CLIENTS = [
  { name: '`application/json`', accept: 'application/json' },
  {
    name: 'Apollo Client 4',
    accept: 'application/graphql-response+json,application/json;q=0.9',
  },
  {
    name: 'urql',
    accept:
      'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
  },
  {
    name: 'trading-graph-client',
    accept: 'application/graphql-response+json, application/json;q=0.9',
  },
] as const;

export type Client = (typeof CLIENTS)[number];
