import {
  Environment,
  type GraphQLResponse,
  Network,
  Observable,
  RecordSource,
  type RequestParameters,
  Store,
  type Variables,
} from 'relay-runtime';
import type { Operation, Result } from 'trading-graph-client';
import { tradingGraph } from './trading-graph';

type Answer = { positionChanges?: { cursor: string } };
const OFFLINE = { status: 'OFFLINE', snapshot: false, upserted: [], ticks: [], closed: [] };

// With persisted queries Relay has an id in place of the text.
function operation({ id, text }: RequestParameters): Operation<Answer, Variables> {
  return id ? { documentId: id } : (text ?? '');
}

function response({ data, errors }: Result<Answer>): GraphQLResponse {
  if (data === null) throw errors[0] ?? new Error('There is no data.');
  return {
    data,
    errors: errors.map(({ message, path }) => ({ message, path: [...(path ?? [])] })),
  };
}

// The client renews tokens, replaces lines, repeats queries and never a mutation.
const network = Network.create(
  async (request, variables) => {
    const send = request.operationKind === 'mutation' ? tradingGraph.mutate : tradingGraph.query;
    return response(await send(operation(request), variables));
  },
  (request, variables) =>
    Observable.create((sink) => {
      let last: Answer['positionChanges'];
      return tradingGraph.subscribe(
        operation(request),
        () => ({ ...variables, after: last?.cursor }),
        {
          next(result) {
            last = result.data?.positionChanges ?? last;
            if (result.data) sink.next(response(result));
          },
          // An event of this app's own: nothing has changed, and nothing is live until the next.
          disconnected() {
            if (last) sink.next({ data: { positionChanges: { ...last, ...OFFLINE } } });
          },
          ended: (error) => (error ? sink.error(error) : sink.complete()),
        },
      );
    }),
);

const BY_ID: Record<string, string> = {
  position: 'Position',
  order: 'Order',
  instrument: 'Instrument',
};

export const environment = new Environment({
  network,
  store: new Store(new RecordSource()),
  // An order and a position may have the same id.
  getDataID: ({ id }, type) => (id ? `${type}:${id}` : undefined),
  // `position(id:)` is answered with a row that is here.
  missingFieldHandlers: [
    {
      kind: 'linked',
      handle: ({ name }, record, { id }) =>
        record?.getType() === '__Root' && name in BY_ID ? `${BY_ID[name]}:${id}` : undefined,
    },
  ],
});
