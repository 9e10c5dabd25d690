/** Apollo Server with a RESTDataSource for each request, as its documentation recommends. */
import { RESTDataSource } from '@apollo/datasource-rest';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { toMethod, toPosition } from '../contestants/by-hand/mapping.ts';
import { search } from '../contestants/by-hand/search.ts';
import { createCache } from './cache.mjs';
import { typeDefs } from './schema.mjs';

const cache = createCache();

class TradingApi extends RESTDataSource {
  baseURL = process.env.GATEWAY_URL;

  constructor(token, options) {
    super(options);
    this.token = token;
  }

  willSendRequest(_path, request) {
    request.headers.authorization = this.token;
  }

  session() {
    return cache.session(this.token, (path) => this.get(path));
  }

  catalog() {
    return cache.catalog(this.token, (path) => this.get(path));
  }

  async positions() {
    return (await this.get('/trading/positions')).positions.map(toPosition);
  }

  async withdrawalMethods() {
    return (await this.get('/payments/client/withdrawal-methods')).flat().map(toMethod);
  }

  async customerId() {
    return (await this.get('/payments/client/customer-id')).customerId;
  }
}

const server = new ApolloServer({
  typeDefs,
  resolvers: {
    Query: {
      session: (_, _args, { api }) => api.session(),
      positions: (_, _args, { api }) => api.positions(),
      withdrawalMethods: (_, _args, { api }) => api.withdrawalMethods(),
      customerId: (_, _args, { api }) => api.customerId(),
      instruments: async (_, { first, filter }, { api }) => {
        const { list } = await api.catalog();
        return { nodes: search(list, filter.search, first) };
      },
    },
    Position: {
      instrument: async ({ symbol }, _args, { api }) =>
        (await api.catalog()).byId.get(symbol) ?? null,
    },
  },
});

await startStandaloneServer(server, {
  listen: { port: Number(process.env.PORT), host: '127.0.0.1' },
  context: async ({ req }) => ({
    api: new TradingApi(req.headers.authorization, { cache: server.cache }),
  }),
});
