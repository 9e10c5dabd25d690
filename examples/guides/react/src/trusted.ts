import type { Operation } from 'trading-graph-client';
import { HOME } from './home';
import { tradingGraph } from './trading-graph';

type Generated<Data, Variables> = Operation<Data, Variables> & {
  __meta__?: Record<string, unknown>;
};

function trusted<Data, Variables>(
  document: Generated<Data, Variables>,
): Operation<Data, Variables> {
  return { documentId: String(document.__meta__?.hash) };
}

export const home = () => tradingGraph.query(trusted(HOME));
