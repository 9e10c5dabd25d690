import { ApolloClient, InMemoryCache } from '@apollo/client';
import { tradingGraphLink } from '../../src/apollo/trading-graph-link.ts';
import { typePolicies } from '../../src/apollo/type-policies.ts';
import { createClient } from '../../src/create-client.ts';
import type { Environment } from '../../src/environment.ts';
import { possibleTypes } from '../../src/generated/possible-types.ts';
import type { TokenSource } from '../../src/request/tokens.ts';
import { countedEnvironment } from '../support/counted-environment.ts';

export type ApolloDevice = ReturnType<typeof startApolloDevice>;

/** An app with Apollo Client over the link, as the guide sets it up. */
export function startApolloDevice(
  url: string,
  token: TokenSource,
  environment: Partial<Environment> = countedEnvironment(),
) {
  /** The reasons that `onSignedOut` was called with. */
  const signedOut: string[] = [];
  const client = createClient({
    url,
    token,
    environment,
    onSignedOut: ({ code }) => void signedOut.push(code),
  });
  const apollo = new ApolloClient({
    link: tradingGraphLink(client),
    cache: new InMemoryCache({ possibleTypes, typePolicies }),
  });
  return {
    client,
    apollo,
    signedOut,
    [Symbol.dispose]() {
      apollo.stop();
      client.dispose();
    },
  };
}
