/**
 * GraphQL Yoga with Pothos, DataLoader and fetch, each as its own documentation begins. With TUNED=yes it executes by
 * graphql-jit, as Mercurius does, and leaves out what the bench does not need.
 */
import { createServer } from 'node:http';
import SchemaBuilder from '@pothos/core';
import DataLoader from 'dataloader';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { createYoga } from 'graphql-yoga';
import { search } from '../contestants/by-hand/search.ts';
import { reads } from './reads.mjs';

const builder = new SchemaBuilder({});

const Side = builder.enumType('Side', { values: ['BUY', 'SELL'] });

const Instrument = builder.objectRef('Instrument').implement({
  fields: (t) => ({
    id: t.exposeID('id'),
    name: t.exposeString('name'),
    description: t.exposeString('description'),
    logo: t.exposeString('logo'),
    leverage: t.exposeFloat('leverage'),
    digits: t.exposeInt('digits'),
    min: t.exposeFloat('min'),
    max: t.exposeFloat('max'),
    step: t.exposeFloat('step'),
    limit: t.exposeFloat('limit'),
    mCurrency: t.exposeString('mCurrency'),
    pCurrency: t.exposeString('pCurrency'),
  }),
});

const Position = builder.objectRef('Position').implement({
  fields: (t) => ({
    id: t.exposeID('id'),
    symbol: t.exposeString('symbol'),
    side: t.expose('side', { type: Side }),
    name: t.exposeString('name'),
    logo: t.exposeString('logo'),
    delayed: t.exposeBoolean('delayed'),
    sharia: t.exposeBoolean('sharia'),
    digits: t.exposeInt('digits'),
    units: t.exposeFloat('units'),
    priceOpen: t.exposeFloat('priceOpen'),
    priceCurrent: t.exposeFloat('priceCurrent'),
    createdAt: t.exposeString('createdAt'),
    updatedAt: t.exposeString('updatedAt'),
    leverage: t.exposeFloat('leverage'),
    rateMargin: t.exposeFloat('rateMargin'),
    rateProfit: t.exposeFloat('rateProfit'),
    stopLoss: t.exposeFloat('stopLoss'),
    takeProfit: t.exposeFloat('takeProfit'),
    storage: t.exposeFloat('storage'),
    comment: t.exposeString('comment'),
    profit: t.exposeFloat('profit'),
    invested: t.exposeFloat('invested'),
    instrument: t.field({
      type: Instrument,
      nullable: true,
      resolve: ({ symbol }, _args, { instruments }) => instruments.load(symbol),
    }),
  }),
});

const Session = builder.objectRef('Session').implement({
  fields: (t) => ({
    login: t.exposeString('login'),
    currency: t.exposeString('currency'),
    balance: t.exposeFloat('balance'),
    credit: t.exposeFloat('credit'),
    equity: t.exposeFloat('equity'),
    invested: t.exposeFloat('invested'),
    profits: t.exposeFloat('profits'),
    kycStatus: t.exposeString('kycStatus'),
  }),
});

const WithdrawalMethod = builder.objectRef('WithdrawalMethod').implement({
  fields: (t) => ({
    id: t.exposeID('id'),
    title: t.exposeString('title'),
    type: t.exposeString('type'),
    status: t.exposeString('status'),
    subtitle: t.exposeString('subtitle'),
  }),
});

const InstrumentFilter = builder.inputType('InstrumentFilter', {
  fields: (t) => ({ search: t.string({ required: true }) }),
});

const InstrumentConnection = builder.objectRef('InstrumentConnection').implement({
  fields: (t) => ({ nodes: t.expose('nodes', { type: [Instrument] }) }),
});

builder.queryType({
  fields: (t) => ({
    session: t.field({ type: Session, resolve: (_, _args, { token }) => reads.session(token) }),
    positions: t.field({
      type: [Position],
      resolve: (_, _args, { token }) => reads.positions(token),
    }),
    withdrawalMethods: t.field({
      type: [WithdrawalMethod],
      resolve: (_, _args, { token }) => reads.withdrawalMethods(token),
    }),
    customerId: t.string({ resolve: (_, _args, { token }) => reads.customerId(token) }),
    instruments: t.field({
      type: InstrumentConnection,
      args: {
        first: t.arg.int({ required: true }),
        filter: t.arg({ type: InstrumentFilter, required: true }),
      },
      resolve: async (_, { first, filter }, { token }) => {
        const { list } = await reads.catalog(token);
        return { nodes: search(list, filter.search, first) };
      },
    }),
  }),
});

const TUNED = {
  plugins: [useJit()],
  cors: false,
  landingPage: false,
  maskedErrors: false,
  multipart: false,
  batching: false,
  logging: false,
};

const yoga = createYoga({
  schema: builder.toSchema(),
  graphiql: false,
  logging: 'warn',
  ...(process.env.TUNED === 'yes' && TUNED),
  context: ({ request }) => {
    const token = request.headers.get('authorization');
    return {
      token,
      instruments: new DataLoader(async (symbols) => {
        const { byId } = await reads.catalog(token);
        return symbols.map((symbol) => byId.get(symbol) ?? null);
      }),
    };
  },
});

createServer(yoga).listen(Number(process.env.PORT), '127.0.0.1');

/** Compiles each document once; yoga caches parsed documents, so that a text has one. */
function useJit() {
  const compiled = new WeakMap();
  return {
    onExecute({ args, setExecuteFn }) {
      const { schema, document, operationName } = args;
      let query = compiled.get(document);
      if (query === undefined) {
        query = compileQuery(schema, document, operationName ?? undefined);
        compiled.set(document, query);
      }
      if (!isCompiledQuery(query)) return;
      setExecuteFn(({ rootValue, contextValue, variableValues }) =>
        query.query(rootValue, contextValue, variableValues),
      );
    },
  };
}
