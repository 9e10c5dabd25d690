/** Apollo Server with a RESTDataSource for each request, as its documentation recommends. */
import { RESTDataSource } from '@apollo/datasource-rest';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { readsBy } from './reads.mjs';
import { queryResolvers, typeDefs } from './schema.mjs';

class TradingApi extends RESTDataSource {
  baseURL = process.env.GATEWAY_URL;
  reads = readsBy((path) => this.get(path));

  constructor(token, options) {
    super(options);
    this.token = token;
  }

  willSendRequest(_path, request) {
    request.headers.authorization = this.token;
  }
}

const server = new ApolloServer({
  typeDefs,
  resolvers: {
    Query: queryResolvers(({ api }) => api.reads),
    Position: {
      instrument: async ({ symbol }, _args, { api, token }) =>
        (await api.reads.catalog(token)).byId.get(symbol) ?? null,
    },
  },
});

await startStandaloneServer(server, {
  listen: { port: Number(process.env.PORT), host: '127.0.0.1' },
  context: async ({ req: { headers } }) => {
    const token = headers.authorization;
    return { token, api: new TradingApi(token, { cache: server.cache }) };
  },
});
