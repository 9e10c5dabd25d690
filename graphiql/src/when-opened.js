import { createElement as h, lazy, Suspense } from 'react';

/** A component whose code is asked for when it is first shown. */
export function whenOpened(load) {
  const Content = lazy(async () => ({ default: await load() }));
  return () => h(Suspense, { fallback: h('p', { role: 'status' }, 'Loading …') }, h(Content));
}
