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
                data-side={each}
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
      <Outcome ticket={ticket} placed={placed} />
    </section>
  );
}

const STEPS = {
  sending: 'sending…',
  asking: 'no answer yet, asking what became of it…',
  closing: 'making sure that it is placed or not…',
};

function Outcome({
  ticket,
  placed,
}: {
  readonly ticket: TicketForm;
  readonly placed: OrderInput | null;
}) {
  const what = placed && `${placed.side} ${placed.size.units} ${placed.symbol}`;
  return (
    <div role="status" className="outcome" data-outcome={ticket.status}>
      {ticket.status === 'placing' && (
        <h3>
          {what}: {STEPS[ticket.progress]}
        </h3>
      )}
      {ticket.status === 'accepted' && (
        <>
          <h3>Accepted: {what}</h3>
          <p>Order {ticket.outcome.orderId}. The position appears in the list.</p>
        </>
      )}
      {ticket.status === 'rejected' && (
        <>
          <h3>Rejected: {what}</h3>
          <p>{ticket.outcome.message ?? ticket.outcome.error} Nothing was traded.</p>
        </>
      )}
      {ticket.status === 'unknown' && (
        <>
          <h3>Unknown: {what}</h3>
          <p>
            Sent at {time(new Date(ticket.outcome.sentAt))}, and nobody knows whether it was carried
            out. Look at your positions before you order again. Asking sends no second order.
          </p>
          <button type="button" onClick={() => ticket.retry()}>
            Ask again
          </button>
        </>
      )}
      {ticket.status === 'unsent' && (
        <>
          <h3>Not placed: {what}</h3>
          <p>{ticket.outcome.error.message}</p>
        </>
      )}
      {(ticket.status === 'accepted' ||
        ticket.status === 'rejected' ||
        ticket.status === 'unknown') && (
        <button type="button" onClick={ticket.reset}>
          {ticket.status === 'unknown' ? 'I have looked: new order' : 'New order'}
        </button>
      )}
    </div>
  );
}
