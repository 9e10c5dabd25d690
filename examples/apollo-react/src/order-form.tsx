import { type FormEvent, useState } from 'react';
import type { Side } from 'trading-graph-client';
import { type TicketForm, useTicket } from 'trading-graph-client/react';

/** The client takes each order to its end. Choosing another instrument begins none while one has no end. */
export function OrderForm(chosen: { symbol: string }) {
  const ticket = useTicket();
  const [side, setSide] = useState<Side>('BUY');
  const [units, setUnits] = useState('1');
  const [placed, setPlaced] = useState('');
  const isOpen = ticket.status === 'ready' || ticket.status === 'unsent';
  const symbol = isOpen ? chosen.symbol : placed;

  function submit(event: FormEvent) {
    event.preventDefault();
    setPlaced(symbol);
    void ticket.place({ symbol, side, kind: 'MARKET', size: { units: Number(units) } });
  }

  return (
    <form className="order card" onSubmit={submit}>
      <h2>{symbol}</h2>
      <fieldset disabled={!isOpen}>
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
        <OutcomeText {...ticket} />
      </div>
      <div className="actions">
        {isOpen && <button type="submit">Place order</button>}
        {ticket.status === 'unknown' && (
          <button type="button" onClick={() => ticket.retry()}>
            Ask again
          </button>
        )}
        {!isOpen && ticket.status !== 'placing' && (
          <button type="button" className="quiet" onClick={ticket.reset}>
            Another order
          </button>
        )}
      </div>
    </form>
  );
}

const STEPS = {
  sending: 'Sending your order …',
  asking: 'No answer yet. Asking what became of your order …',
  closing: 'Checking whether your order was placed …',
};

function OutcomeText(ticket: TicketForm) {
  switch (ticket.status) {
    case 'ready':
      return null;
    case 'placing':
      return <p>{STEPS[ticket.progress]}</p>;
    case 'accepted':
      return <p className="up">Accepted: order {ticket.outcome.orderId}.</p>;
    case 'rejected':
      return <p className="down">Refused: {ticket.outcome.message ?? ticket.outcome.error}</p>;
    case 'unsent':
      return <p className="down">Not placed: {ticket.outcome.error.message}</p>;
    case 'unknown':
      return (
        <p className="unknown">
          Nobody has confirmed your order. It may have been carried out: look at your positions
          before you place another one.
        </p>
      );
  }
}
