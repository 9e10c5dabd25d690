import { type ComponentType, createElement, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

export function registerRootComponent(component: ComponentType): void {
  const root = createRoot(document.getElementById('app') as HTMLElement);
  root.render(createElement(StrictMode, null, createElement(component)));
}
