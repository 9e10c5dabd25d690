import { useState } from 'react';
import { graphql, useMutation } from 'react-relay';
import type { OrderFormMutation } from './__generated__/OrderFormMutation.graphql';

export const PLACE = graphql`
  mutation OrderFormMutation($input: PlaceOrderInput!) {
    placeOrder(input: $input) {
      __typename
      ... on OrderOutcome { idempotencyKey message replayed }
      ... on OrderAccepted { orderId positions { id symbol units profit } }
      ... on OrderRejected { error sent }
      ... on OrderOutcomeUnknown { sentAt }
    }
  }
`;

export function OrderForm({ symbol }: { symbol: string }) {
  // One key, one order, however often it is sent. Another order is another form: give it another `key`.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const [outcome, setOutcome] = useState<OrderFormMutation['response']['placeOrder']>();
  const [place, isPlacing] = useMutation<OrderFormMutation>(PLACE);
  const input = {
    symbol,
    side: 'BUY' as const,
    kind: 'MARKET' as const,
    size: { units: 1 },
    idempotencyKey,
  };
  const send = () =>
    place({
      variables: { input },
      onCompleted: ({ placeOrder }) => setOutcome(placeOrder),
      onError: () => setOutcome(null),
    });
  return (
    <form action={() => void send()}>
      <button type="submit" disabled={isPlacing}>
        Buy 1 {symbol}
      </button>
      {outcome?.__typename === 'OrderAccepted' && <p>Done.</p>}
      {outcome?.__typename === 'OrderRejected' && <p>Refused: {outcome.message}</p>}
      {outcome?.__typename === 'OrderOutcomeUnknown' && (
        <p>Sent, and not confirmed. It may have been carried out: look at your positions.</p>
      )}
      {outcome === null && (
        <p>No outcome yet: it may have been placed. Ask again, by the same button.</p>
      )}
    </form>
  );
}
