/** Mercurius on Fastify, compiled by its jit, with its loaders. */
import Fastify from 'fastify';
import mercurius from 'mercurius';
import { reads } from './reads.mjs';
import { queryResolvers, typeDefs } from './schema.mjs';

const app = Fastify();

app.register(mercurius, {
  schema: typeDefs,
  jit: 1,
  context: (request) => ({ token: request.headers.authorization }),
  resolvers: { Query: queryResolvers(() => reads) },
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
