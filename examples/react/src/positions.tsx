import { memo } from 'react';
import type { Position, PositionsState } from 'trading-graph-client';
import { usePositions } from 'trading-graph-client/react';
import { amount, price, signed, time, tone } from './format.ts';

export function Positions() {
  const state = usePositions({ intervalMs: 500 });
  const { positions, totals, asOf, error } = state;
  return (
    <section className="card" aria-labelledby="positions" data-stale={state.status !== 'LIVE'}>
      <div className="title">
        <h2 id="positions">Open positions</h2>
        <Status {...state} />
      </div>
      <dl className="totals">
        <Total name="Profit" value={signed(totals?.profit)} className={tone(totals?.profit)} />
        <Total name="Invested" value={amount(totals?.invested)} />
        <Total name="Positions" value={totals === null ? '–' : String(totals.count)} />
      </dl>
      <ul className="rows">
        {positions?.map((position) => (
          <Row key={position.id} position={position} />
        ))}
      </ul>
      {totals?.count === 0 && (
        <p className="empty">No open positions. Your first order opens one.</p>
      )}
      {asOf === null && error !== null && <p className="problem">{error.message}</p>}
    </section>
  );
}

function Status({ status, asOf }: PositionsState) {
  const since = asOf === null ? '' : ` As of ${time(asOf)}.`;
  const text = {
    CONNECTING: '',
    LIVE: 'Prices follow the market.',
    DELAYED: `The gateway does not answer.${since}`,
    OFFLINE: `No connection.${since}`,
  }[status];
  return (
    <p className="status" role="status" data-status={status}>
      <b>{status}</b> <span>{text}</span>
    </p>
  );
}

function Total({ name, value, className }: { name: string; value: string; className?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className={className}>{value}</dd>
    </div>
  );
}

/** An unchanged position is the same object, so that an event renders only the rows that it changes. */
const Row = memo(({ position }: { readonly position: Position }) => {
  const { symbol, name, side, units, digits, priceOpen, priceCurrent, profit } = position;
  return (
    <li>
      <span>
        <b>{symbol}</b> <small>{name}</small>
      </span>
      <span>
        {side} {amount(units)}
      </span>
      <span>
        {price(priceOpen, digits)} → {price(priceCurrent, digits)}
      </span>
      <span className={`profit ${tone(profit)}`}>{signed(profit)}</span>
    </li>
  );
});
