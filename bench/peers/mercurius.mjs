/** Mercurius on Fastify, compiled by its jit, with its loaders; fetch goes to the gateway. */
import Fastify from 'fastify';
import mercurius from 'mercurius';
import { search } from '../contestants/by-hand/search.ts';
import { reads } from './reads.mjs';
import { typeDefs } from './schema.mjs';

const app = Fastify();

app.register(mercurius, {
  schema: typeDefs,
  jit: 1,
  context: (request) => ({ token: request.headers.authorization }),
  resolvers: {
    Query: {
      session: (_, _args, { token }) => reads.session(token),
      positions: (_, _args, { token }) => reads.positions(token),
      withdrawalMethods: (_, _args, { token }) => reads.withdrawalMethods(token),
      customerId: (_, _args, { token }) => reads.customerId(token),
      instruments: async (_, { first, filter }, { token }) => {
        const { list } = await reads.catalog(token);
        return { nodes: search(list, filter.search, first) };
      },
    },
  },
  loaders: {
    Position: {
      async instrument(queries, { token }) {
        const { byId } = await reads.catalog(token);
        return queries.map(({ obj }) => byId.get(obj.symbol) ?? null);
      },
    },
  },
});

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
