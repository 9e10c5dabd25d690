import { ApolloProvider } from '@apollo/client/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { TradingGraphProvider } from 'trading-graph-client/react';
import { apollo, tradingGraph } from './api.ts';
import { App } from './app.tsx';
import './style.css';

createRoot(document.getElementById('app') as HTMLElement).render(
  <StrictMode>
    <ApolloProvider client={apollo}>
      <TradingGraphProvider client={tradingGraph}>
        <App />
      </TradingGraphProvider>
    </ApolloProvider>
  </StrictMode>,
);
