import { useDeferredValue, useMemo, useState } from 'react';
import { useCatalog } from 'trading-graph-client/react';

interface InstrumentsProps {
  readonly chosen: string;
  readonly onChoose: (symbol: string) => void;
}

export function Instruments({ chosen, onChoose }: InstrumentsProps) {
  const catalog = useCatalog<'leverage'>();
  const [text, setText] = useState('');
  const searched = useDeferredValue(text);
  const found = useMemo(() => catalog.search(searched, { limit: 5 }), [catalog, searched]);
  return (
    <section className="card" aria-labelledby="instruments">
      <div className="title">
        <h2 id="instruments">Instruments</h2>
        <span className="count">{catalog.status === 'ready' ? catalog.all.length : '…'}</span>
      </div>
      <input
        type="search"
        aria-label="Search instruments"
        placeholder="Search: apple, micrsoft, EURUSD"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {catalog.status === 'failed' && (
        <p className="problem">
          {catalog.error?.message}{' '}
          <button type="button" onClick={catalog.refresh}>
            Try again
          </button>
        </p>
      )}
      <ul className="found">
        {found.map(({ id, symbol, name, leverage }) => (
          <li key={id}>
            <button type="button" aria-pressed={symbol === chosen} onClick={() => onChoose(symbol)}>
              <b>{symbol}</b> <span>{name}</span> <small>1:{leverage}</small>
            </button>
          </li>
        ))}
      </ul>
      {catalog.status === 'ready' && found.length === 0 && <p className="empty">Nothing found.</p>}
    </section>
  );
}
