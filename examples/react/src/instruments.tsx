import { useDeferredValue, useEffect, useState } from 'react';
import type { TypedText } from 'trading-graph-client';
import { client } from './session.ts';

interface InstrumentsProps {
  readonly chosen: string;
  readonly onChoose: (symbol: string) => void;
}
interface Found {
  readonly id: string;
  readonly symbol: string;
  readonly name: string;
  readonly leverage: number | null;
}

const SEARCH: TypedText<{ instruments: { nodes: readonly Found[] } | null }, { text: string }> = `
  query Search($text: String!) {
    instruments(first: 5, filter: { search: $text }) { nodes { id symbol name leverage } }
  }`;

export function Instruments({ chosen, onChoose }: InstrumentsProps) {
  const [text, setText] = useState('');
  const [found, setFound] = useState<readonly Found[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const searched = useDeferredValue(text);
  useEffect(() => {
    // An older search must not replace the results of a newer one.
    const abort = new AbortController();
    const { signal } = abort;
    client.query(SEARCH, { text: searched }, { signal }).then(({ data, errors }) => {
      if (signal.aborted) return;
      setProblem(errors[0]?.message ?? null);
      if (data?.instruments) setFound(data.instruments.nodes);
    });
    return () => abort.abort();
  }, [searched]);
  return (
    <section className="card" aria-labelledby="instruments">
      <div className="title">
        <h2 id="instruments">Instruments</h2>
      </div>
      <input
        type="search"
        aria-label="Search instruments"
        placeholder="Search: apple, micrsoft, EURUSD"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {problem !== null && <p className="problem">{problem}</p>}
      <ul className="found">
        {found.map(({ id, symbol, name, leverage }) => (
          <li key={id}>
            <button type="button" aria-pressed={symbol === chosen} onClick={() => onChoose(symbol)}>
              <b>{symbol}</b> <span>{name}</span> <small>1:{leverage}</small>
            </button>
          </li>
        ))}
      </ul>
      {problem === null && found.length === 0 && <p className="empty">Nothing found.</p>}
    </section>
  );
}
