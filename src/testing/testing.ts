/** What `trading-graph/testing` has. */
export { openAdapter } from './open-adapter.ts';
export { startGraph } from './start-graph.ts';
