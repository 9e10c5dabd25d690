import { useTicket } from 'trading-graph-client/react';

const TEXTS = {
  ready: '',
  placing: 'Sending your order …',
  accepted: 'Done.',
  rejected: 'Refused. Nothing was traded.',
  unsent: 'Not placed. Nothing was bought or sold.',
  unknown:
    'We have no confirmation of your order. It may have been carried out: look at your positions.',
};

/** An order goes through the client, which takes it to its end; the position comes with the live list. */
export function OrderForm({ symbol }: { symbol: string }) {
  const { status, place, retry, reset } = useTicket();
  const isOpen = status === 'ready' || status === 'unsent';
  const buy = () => place({ symbol, side: 'BUY', kind: 'MARKET', size: { units: 1 } });
  return (
    <p>
      <button type="button" disabled={!isOpen} onClick={buy}>
        Buy 1 {symbol}
      </button>
      {TEXTS[status]}
      {status === 'unknown' && (
        <button type="button" onClick={() => retry()}>
          Ask again
        </button>
      )}
      {!isOpen && status !== 'placing' && (
        <button type="button" onClick={reset}>
          New order
        </button>
      )}
    </p>
  );
}
