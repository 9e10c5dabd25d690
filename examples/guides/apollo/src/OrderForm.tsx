import type { ApolloClient } from '@apollo/client';
import { useMutation } from '@apollo/client/react';
import { useState } from 'react';
import { PLACE } from './documents';

const TEXTS = {
  OrderAccepted: 'Done.',
  OrderRejected: 'Refused.',
  OrderOutcomeUnknown:
    'Sent, and not confirmed. It may have been carried out: look at your positions.',
};

export function OrderForm({ client, symbol }: { client: ApolloClient; symbol: string }) {
  // One key, one order, however often it is sent. Another order is another form: give it another `key`.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const [place, { data, error, loading }] = useMutation(PLACE, { client, errorPolicy: 'all' });
  const input = {
    symbol,
    side: 'BUY' as const,
    kind: 'MARKET' as const,
    size: { units: 1 },
    idempotencyKey,
  };
  const outcome = data?.placeOrder;
  return (
    <form action={() => void place({ variables: { input } })}>
      <button type="submit" disabled={loading}>
        Buy 1 {symbol}
      </button>
      <p>
        {outcome
          ? `${TEXTS[outcome.__typename]} ${outcome.message ?? ''}`
          : error && 'No outcome yet: it may have been placed. Ask again, by the same button.'}
      </p>
    </form>
  );
}
