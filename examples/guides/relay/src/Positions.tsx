import { useMemo, useState } from 'react';
import { graphql, useLazyLoadQuery, useSubscription } from 'react-relay';
import type { liveSubscription } from './__generated__/liveSubscription.graphql';
import type { PositionsQuery } from './__generated__/PositionsQuery.graphql';
import { foldPositions, LIVE } from './live';

export const POSITIONS = graphql`
  query PositionsQuery { positions { id symbol units profit } }
`;

export function Positions() {
  const [status, setStatus] = useState('');
  const { positions } = useLazyLoadQuery<PositionsQuery>(POSITIONS, {});
  useSubscription<liveSubscription>(
    useMemo(
      () => ({
        subscription: LIVE,
        variables: {},
        updater: foldPositions,
        onNext: (data) => setStatus(data?.positionChanges.status ?? ''),
        onError: () => setStatus('not live'),
      }),
      [],
    ),
  );
  return (
    <section>
      <h2>Positions {status}</h2>
      {positions?.map(({ id, symbol, units, profit }) => (
        <p key={id}>
          {symbol} {units}: {profit}
        </p>
      ))}
    </section>
  );
}
