import { createElement as h, lazy, Suspense } from 'react';

/** A component whose code is asked for when it is first shown. An error thrown here would take the whole page away. */
export function whenOpened(load) {
  const Content = lazy(async () => ({ default: await load().catch(() => NotLoaded) }));
  return () => h(Suspense, { fallback: h('p', { role: 'status' }, 'Loading …') }, h(Content));
}

function NotLoaded() {
  const text = 'It could not be loaded. Is the server still there? Reload the page to try again.';
  return h('p', { role: 'alert' }, text);
}
