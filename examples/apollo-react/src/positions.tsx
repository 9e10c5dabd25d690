import { gain, money, plain, price, trend } from './format.ts';
import type { LivePositions, PositionRow } from './use-live-positions.ts';

const MEANING = {
  LIVE: 'Live',
  DELAYED: 'Delayed',
  OFFLINE: 'Offline',
};

export function LiveStatus({ status, asOf }: LivePositions) {
  if (status === null) return <p className="status">Connecting…</p>;
  return (
    <p className={`status ${status.toLowerCase()}`} role="status">
      {MEANING[status]}
      {status !== 'LIVE' && asOf && <span> · {asOf.toLocaleTimeString('en-GB')}</span>}
    </p>
  );
}

export function Totals({ totals }: LivePositions) {
  return (
    <dl className="totals card">
      <Figure name="Profit" className={trend(totals?.profit)}>
        {totals?.profit == null ? '–' : gain.format(totals.profit)}
      </Figure>
      <Figure name="Invested">
        {totals?.invested == null ? '–' : money.format(totals.invested)}
      </Figure>
      <Figure name="Open">{totals?.count ?? '–'}</Figure>
    </dl>
  );
}

function Figure(props: { name: string; className?: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd className={props.className}>{props.children}</dd>
    </div>
  );
}

export function Positions({ positions, status }: LivePositions) {
  if (positions === null) return <p className="hint">Waiting for the first list…</p>;
  if (positions.length === 0) return <p className="hint">No open positions.</p>;
  return (
    <ul className={`rows card ${status === 'LIVE' ? '' : 'old'}`}>
      {positions.map((position) => (
        <Row key={position.id} {...position} />
      ))}
    </ul>
  );
}

function Row({ symbol, name, side, units, priceCurrent, digits, profit }: PositionRow) {
  return (
    <li>
      <strong>{symbol}</strong>
      <span className={`figure ${trend(profit)}`}>
        {profit == null ? '–' : gain.format(profit)}
      </span>
      <small>
        {side === 'SELL' ? 'Sold' : 'Bought'} {units == null ? '' : plain.format(units)} · {name}
      </small>
      <small className="figure">{priceCurrent == null ? '–' : price(priceCurrent, digits)}</small>
    </li>
  );
}
