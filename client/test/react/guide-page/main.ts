// The sample of the guide, which vite.config.ts provides.
import App from 'guide:App.tsx';
import { createElement, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

createRoot(document.getElementById('root') as HTMLElement).render(
  createElement(StrictMode, null, createElement(App)),
);
