import { type FormEvent, useState } from 'react';
import type { OrderInput, Side } from 'trading-graph-client';
import { type TicketForm, useTicket } from 'trading-graph-client/react';
import { time } from './format.ts';

export function OrderForm({ symbol }: { readonly symbol: string }) {
  const ticket = useTicket();
  const [side, setSide] = useState<Side>('BUY');
  const [units, setUnits] = useState('1');
  const [placed, setPlaced] = useState<OrderInput | null>(null);
  // An order that may have been sent can no longer be edited.
  const isOpen = ticket.status === 'ready' || ticket.status === 'unsent';

  function place(event: FormEvent) {
    event.preventDefault();
    const order: OrderInput = { symbol, side, kind: 'MARKET', size: { units: Number(units) } };
    setPlaced(order);
    void ticket.place(order);
  }

  return (
    <section className="card" aria-labelledby="order">
      <h2 id="order">Order</h2>
      {isOpen && (
        <form onSubmit={place}>
          <fieldset className="sides" aria-label="Side">
            {(['BUY', 'SELL'] as const).map((each) => (
              <button
                key={each}
                type="button"
                aria-pressed={side === each}
                onClick={() => setSide(each)}
              >
                {each}
              </button>
            ))}
          </fieldset>
          <label>
            Units
            <input
              inputMode="decimal"
              required
              value={units}
              onChange={(event) => setUnits(event.target.value)}
            />
          </label>
          <button type="submit" className="main">
            {side} {units} {symbol}
          </button>
        </form>
      )}
      <div role="status" className="outcome" data-outcome={ticket.status}>
        {ticket.status !== 'ready' && placed && (
          <h3>
            {HEADINGS[ticket.status]}: {placed.side} {placed.size.units} {placed.symbol}
          </h3>
        )}
        <p>{describe(ticket)}</p>
        {ticket.status === 'unknown' && (
          <button type="button" onClick={() => ticket.retry()}>
            Ask again
          </button>
        )}
        {!isOpen && ticket.status !== 'placing' && (
          <button type="button" onClick={ticket.reset}>
            {ticket.status === 'unknown' ? 'I have looked: new order' : 'New order'}
          </button>
        )}
      </div>
    </section>
  );
}

const HEADINGS = {
  placing: 'Under way',
  accepted: 'Accepted',
  rejected: 'Rejected',
  unsent: 'Not placed',
  unknown: 'Unknown',
};

const STEPS = {
  sending: 'Sending your order …',
  asking: 'No answer yet. Asking what became of your order …',
  closing: 'Checking whether your order was placed …',
};

function describe(ticket: TicketForm): string {
  switch (ticket.status) {
    case 'ready':
      return '';
    case 'placing':
      return STEPS[ticket.progress];
    case 'accepted':
      return `Order ${ticket.outcome.orderId}. The position appears in the list.`;
    case 'rejected':
      return `${ticket.outcome.message ?? ticket.outcome.error} Nothing was traded.`;
    case 'unsent':
      return ticket.outcome.error.message;
    case 'unknown':
      return `Sent at ${time(new Date(ticket.outcome.sentAt))}. It is not known whether it was carried out. Look at your positions before you order again.`;
  }
}
