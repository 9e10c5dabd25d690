/** GraphQL Yoga with Pothos and DataLoader, each used as its documentation first shows. */
import { createServer } from 'node:http';
import SchemaBuilder from '@pothos/core';
import DataLoader from 'dataloader';
import { createYoga } from 'graphql-yoga';
import { reads } from './reads.mjs';
import { queryResolvers } from './schema.mjs';

const builder = new SchemaBuilder({});

const Side = builder.enumType('Side', { values: ['BUY', 'SELL'] });

const Instrument = builder.objectRef('Instrument').implement({
  fields: (t) => ({
    id: t.exposeID('id'),
    ...strings(t, ['name', 'description', 'logo', 'mCurrency', 'pCurrency']),
    ...floats(t, ['leverage', 'min', 'max', 'step', 'limit']),
    digits: t.exposeInt('digits'),
  }),
});

const Position = builder.objectRef('Position').implement({
  fields: (t) => ({
    id: t.exposeID('id'),
    side: t.expose('side', { type: Side }),
    ...strings(t, ['symbol', 'name', 'logo', 'createdAt', 'updatedAt', 'comment']),
    ...floats(t, ['units', 'priceOpen', 'priceCurrent', 'leverage', 'rateMargin', 'rateProfit']),
    ...floats(t, ['stopLoss', 'takeProfit', 'storage', 'profit', 'invested']),
    delayed: t.exposeBoolean('delayed'),
    sharia: t.exposeBoolean('sharia'),
    digits: t.exposeInt('digits'),
    instrument: t.field({
      type: Instrument,
      nullable: true,
      resolve: ({ symbol }, _args, { instruments }) => instruments.load(symbol),
    }),
  }),
});

const Session = builder.objectRef('Session').implement({
  fields: (t) => ({
    ...strings(t, ['login', 'currency', 'kycStatus']),
    ...floats(t, ['balance', 'credit', 'equity', 'invested', 'profits']),
  }),
});

const WithdrawalMethod = builder.objectRef('WithdrawalMethod').implement({
  fields: (t) => ({
    id: t.exposeID('id'),
    ...strings(t, ['title', 'type', 'status', 'subtitle']),
  }),
});

const InstrumentFilter = builder.inputType('InstrumentFilter', {
  fields: (t) => ({ search: t.string({ required: true }) }),
});

const InstrumentConnection = builder.objectRef('InstrumentConnection').implement({
  fields: (t) => ({ nodes: t.expose('nodes', { type: [Instrument] }) }),
});

const resolvers = queryResolvers(() => reads);

builder.queryType({
  fields: (t) => ({
    session: t.field({ type: Session, resolve: resolvers.session }),
    positions: t.field({ type: [Position], resolve: resolvers.positions }),
    withdrawalMethods: t.field({
      type: [WithdrawalMethod],
      resolve: resolvers.withdrawalMethods,
    }),
    customerId: t.string({ resolve: resolvers.customerId }),
    instruments: t.field({
      type: InstrumentConnection,
      args: {
        first: t.arg.int({ required: true }),
        filter: t.arg({ type: InstrumentFilter, required: true }),
      },
      resolve: resolvers.instruments,
    }),
  }),
});

const yoga = createYoga({
  schema: builder.toSchema(),
  graphiql: false,
  logging: 'warn',
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

function strings(t, names) {
  return Object.fromEntries(names.map((name) => [name, t.exposeString(name)]));
}

function floats(t, names) {
  return Object.fromEntries(names.map((name) => [name, t.exposeFloat(name)]));
}
