import { useMutation } from '@apollo/client/react';
import { type FormEvent, useState } from 'react';
import type { PlaceOrderMutation, Side } from './gql/graphql.ts';
import { graphql } from './gql/index.ts';

const PLACE_ORDER = graphql(`
  mutation PlaceOrder($input: PlaceOrderInput!) {
    placeOrder(input: $input) {
      __typename
      ... on OrderOutcome { idempotencyKey message }
      ... on OrderAccepted { orderId }
      ... on OrderRejected { error }
      ... on OrderOutcomeUnknown { sentAt }
    }
  }
`);

type Outcome = NonNullable<PlaceOrderMutation['placeOrder']>;

/** One key names one order, however often it is sent: a new one only where the former order is settled. */
export function OrderForm({ symbol }: { symbol: string }) {
  const [key, setKey] = useState(() => crypto.randomUUID());
  const [side, setSide] = useState<Side>('BUY');
  const [units, setUnits] = useState('1');
  const [place, { data, error, loading, reset }] = useMutation(PLACE_ORDER, { errorPolicy: 'all' });
  const outcome = data?.placeOrder ?? null;

  function submit(event: FormEvent) {
    event.preventDefault();
    const input = {
      symbol,
      side,
      kind: 'MARKET' as const,
      size: { units: Number(units) },
      idempotencyKey: key,
    };
    void place({ variables: { input } });
  }
  function another() {
    setKey(crypto.randomUUID());
    reset();
  }

  return (
    <form className="order card" onSubmit={submit}>
      <h2>{symbol}</h2>
      {/* An order that is sent again under its key has to be the same, so it can no longer be edited. */}
      <fieldset disabled={loading || outcome !== null || error !== undefined}>
        <div className="sides">
          {(['BUY', 'SELL'] as const).map((each) => (
            <label key={each}>
              <input
                type="radio"
                name="side"
                checked={side === each}
                onChange={() => setSide(each)}
              />
              {each === 'BUY' ? 'Buy' : 'Sell'}
            </label>
          ))}
        </div>
        <label>
          Units
          <input
            type="number"
            min="0"
            step="any"
            required
            value={units}
            onChange={(event) => setUnits(event.target.value)}
          />
        </label>
      </fieldset>
      <div role="status">
        {outcome !== null && <OutcomeText outcome={outcome} />}
        {outcome === null && error && <p className="down">No outcome yet: {error.message}</p>}
      </div>
      <div className="actions">
        {outcome === null && (
          <button type="submit" disabled={loading}>
            {loading ? 'Sending…' : error ? 'Try again' : 'Place order'}
          </button>
        )}
        {outcome?.__typename === 'OrderOutcomeUnknown' && (
          <button type="submit" disabled={loading}>
            {loading ? 'Asking…' : 'Ask again'}
          </button>
        )}
        {(outcome !== null || error) && (
          <button type="button" className="quiet" disabled={loading} onClick={another}>
            Another order
          </button>
        )}
      </div>
    </form>
  );
}

function OutcomeText({ outcome }: { outcome: Outcome }) {
  switch (outcome.__typename) {
    case 'OrderAccepted':
      return <p className="up">Accepted{outcome.orderId && `: order ${outcome.orderId}`}.</p>;
    case 'OrderRejected':
      return <p className="down">Refused: {outcome.message ?? outcome.error}</p>;
    case 'OrderOutcomeUnknown':
      return (
        <p className="unknown">
          Your order was sent, and nobody has confirmed it. It may have been carried out: look at
          your positions before you place another one.
        </p>
      );
  }
}
