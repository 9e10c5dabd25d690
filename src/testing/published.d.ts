import type { StartGraph } from './test-graph.ts';

/** What `trading-graph/testing` is for its users: their compilers need not understand the service. */
export declare const startGraph: StartGraph;
