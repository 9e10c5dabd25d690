import type { OpenAdapter } from './test-graph.ts';

/** What `trading-graph/testing` has. */
export { startGraph } from './start-graph.ts';

/** The tests of an extension need nothing of it. */
export const openAdapter: OpenAdapter = async (file) =>
  (await import('./open-adapter.ts')).openAdapter(file);
