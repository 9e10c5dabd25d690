import { CombinedGraphQLErrors } from '@apollo/client';
import { useQuery } from '@apollo/client/react';
import { graphql } from './gql';

export const HOME = graphql(`
  query Home {
    session { id balance equity currency }
    positions { id symbol units profit }
    orders { id symbol units }
    ... @defer { withdrawalMethods { id title status } }
  }
`);

export function Home() {
  const { data, error } = useQuery(HOME, { errorPolicy: 'all' });
  const failed = CombinedGraphQLErrors.is(error) ? error.errors.map(({ path }) => path?.[0]) : [];
  return (
    <section>
      {data?.session && (
        <p>
          {data.session.balance} {data.session.currency}
        </p>
      )}
      {failed.includes('withdrawalMethods') && <p>Withdrawals cannot be shown at the moment.</p>}
    </section>
  );
}
