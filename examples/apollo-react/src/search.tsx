import { useQuery } from '@apollo/client/react';
import { useDeferredValue, useState } from 'react';
import { graphql } from './gql/index.ts';

const SEARCH = graphql(`
  query Search($text: String!) {
    instruments(first: 6, filter: { search: $text }) {
      nodes { id symbol name }
    }
  }
`);

export function Search({ onChoose }: { onChoose: (symbol: string) => void }) {
  const [text, setText] = useState('');
  const asked = useDeferredValue(text.trim());
  const { data, previousData, error } = useQuery(SEARCH, {
    variables: { text: asked },
    skip: asked === '',
  });
  const found = asked === '' ? [] : ((data ?? previousData)?.instruments?.nodes ?? []);
  return (
    <div className="search card">
      <label>
        Instrument
        <input
          type="search"
          placeholder="Apple, EURUSD, …"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      {error && <p role="alert">{error.message}</p>}
      {asked !== '' && data?.instruments?.nodes.length === 0 && (
        <p className="hint">Nothing is called “{asked}”.</p>
      )}
      {found.length > 0 && (
        <ul>
          {found.map(({ id, symbol, name }) => (
            <li key={id}>
              <button
                type="button"
                className="found"
                onClick={() => {
                  onChoose(symbol);
                  setText('');
                }}
              >
                <strong>{symbol}</strong> <small>{name}</small>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
