import { createClient } from 'trading-graph-client';
import { indexedDb } from 'trading-graph-client/indexed-db';
import { freshToken, signedOut } from './session';

export const client = createClient({
  url: 'https://example.com/graphql',
  storage: indexedDb({ name: 'my-desk' }),
  token: freshToken,
  onSignedOut: signedOut,
});
