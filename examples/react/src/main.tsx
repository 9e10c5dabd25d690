import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { TradingGraphProvider } from 'trading-graph-client/react';
import { App } from './app.tsx';
import { client } from './session.ts';
import './styles.css';

createRoot(document.getElementById('app') as HTMLElement).render(
  <StrictMode>
    <TradingGraphProvider client={client}>
      <App />
    </TradingGraphProvider>
  </StrictMode>,
);
