/** What `trading-graph/testing` has. */
export { startGraph } from './start-graph.ts';
