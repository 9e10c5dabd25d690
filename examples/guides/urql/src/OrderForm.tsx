import { useState } from 'react';
import { gql, useMutation } from 'urql';

export const PLACE = gql<{ placeOrder: Outcome | null }, { input: object }>`
  mutation Place($input: PlaceOrderInput!) {
    placeOrder(input: $input) {
      __typename
      ... on OrderOutcome { idempotencyKey message replayed }
      ... on OrderAccepted { orderId positions { id symbol units profit } }
      ... on OrderRejected { error sent }
      ... on OrderOutcomeUnknown { sentAt }
    }
  }
`;
interface Outcome {
  __typename: 'OrderAccepted' | 'OrderRejected' | 'OrderOutcomeUnknown';
  message: string | null;
}

export function OrderForm({ symbol }: { symbol: string }) {
  // One key, one order, however often it is sent. Another order is another form: give it another `key`.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const [{ data, error, fetching }, place] = useMutation(PLACE);
  const input = { symbol, side: 'BUY', kind: 'MARKET', size: { units: 1 }, idempotencyKey };
  const outcome = data?.placeOrder;
  return (
    <form action={() => void place({ input })}>
      <button type="submit" disabled={fetching}>
        Buy 1 {symbol}
      </button>
      {outcome?.__typename === 'OrderAccepted' && <p>Done.</p>}
      {outcome?.__typename === 'OrderRejected' && <p>Refused: {outcome.message}</p>}
      {outcome?.__typename === 'OrderOutcomeUnknown' && (
        <p>Sent, and not confirmed. It may have been carried out: look at your positions.</p>
      )}
      {error && !outcome && (
        <p>No outcome yet: it may have been placed. Ask again, by the same button.</p>
      )}
    </form>
  );
}
