import { useDeferredValue, useMemo } from 'react';
import { useCatalog } from 'trading-graph-client/react';

export function Found({ text }: { text: string }) {
  const catalog = useCatalog();
  const searched = useDeferredValue(text);
  const found = useMemo(() => catalog.search(searched, { limit: 10 }), [catalog, searched]);
  return (
    <ul>
      {found.map(({ id, name }) => (
        <li key={id}>
          {id}: {name}
        </li>
      ))}
    </ul>
  );
}
