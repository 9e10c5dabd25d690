/** The cost of an idle socket by the libraries alone: graphql-ws over `ws`, with a silent subscription. */
import { createServer } from 'node:http';
import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';

const text = new GraphQLObjectType({ name: 'Query', fields: { text: { type: GraphQLString } } });
const live = new GraphQLObjectType({
  name: 'Subscription',
  fields: {
    positionChanges: {
      type: new GraphQLObjectType({ name: 'Event', fields: { cursor: { type: GraphQLString } } }),
      subscribe: async function* () {
        yield { positionChanges: { cursor: '' } };
        await new Promise(() => {});
      },
    },
  },
});
const server = createServer();
useServer(
  { schema: new GraphQLSchema({ query: text, subscription: live }) },
  new WebSocketServer({ server, path: '/graphql' }),
);
server.listen(Number(process.env.PORT), '127.0.0.1');
