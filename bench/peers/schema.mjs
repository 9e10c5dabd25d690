import { search } from '../subjects/by-hand/search.ts';

/** The part of the schema that the compared screens select, for the servers that start from SDL. */
export const typeDefs = `
  type Query {
    session: Session!
    positions: [Position!]!
    withdrawalMethods: [WithdrawalMethod!]!
    customerId: String!
    instruments(first: Int!, filter: InstrumentFilter!): InstrumentConnection!
  }
  input InstrumentFilter { search: String! }
  type InstrumentConnection { nodes: [Instrument!]! }
  type Session {
    login: String! currency: String balance: Float credit: Float equity: Float invested: Float
    profits: Float kycStatus: String
  }
  enum Side { BUY SELL }
  type Position {
    id: ID! symbol: String! side: Side name: String logo: String delayed: Boolean sharia: Boolean
    digits: Int units: Float priceOpen: Float priceCurrent: Float createdAt: String updatedAt: String
    leverage: Float rateMargin: Float rateProfit: Float stopLoss: Float takeProfit: Float
    storage: Float comment: String profit: Float invested: Float
    instrument: Instrument
  }
  type Instrument {
    id: ID! name: String! description: String! logo: String! leverage: Float! digits: Int!
    min: Float! max: Float! step: Float! limit: Float! mCurrency: String! pCurrency: String!
  }
  type WithdrawalMethod { id: ID! title: String type: String status: String subtitle: String }
`;

/** The resolvers of that schema's queries. `readsOf` returns the reads of a request by its context. */
export const queryResolvers = (readsOf) => ({
  session: (_, _args, context) => readsOf(context).session(context.token),
  positions: (_, _args, context) => readsOf(context).positions(context.token),
  withdrawalMethods: (_, _args, context) => readsOf(context).withdrawalMethods(context.token),
  customerId: (_, _args, context) => readsOf(context).customerId(context.token),
  instruments: async (_, { first, filter }, context) => {
    const { index } = await readsOf(context).catalog(context.token);
    return { nodes: search(index, filter.search, first) };
  },
});
