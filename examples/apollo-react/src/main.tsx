import { ApolloProvider } from '@apollo/client/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { apollo } from './api.ts';
import { App } from './app.tsx';
import './style.css';

createRoot(document.getElementById('app') as HTMLElement).render(
  <StrictMode>
    <ApolloProvider client={apollo}>
      <App />
    </ApolloProvider>
  </StrictMode>,
);
