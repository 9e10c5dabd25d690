import type { Instrument, Swap, TradingHours } from '../gateway/operations/get-all-tickers.ts';
import { builder, exposed, nullable } from './builder.ts';

export const ShariaStatus = builder.enumType('ShariaStatus', {
  description: 'The compliance of an instrument with Islamic finance.',
  values: {
    QUESTIONABLE: { description: 'In doubt.' },
    COMPLIANT: { description: 'Compliant.' },
    NONCOMPLIANT: { description: 'Not compliant.' },
  },
});

const TradingHoursRef = builder.objectRef<TradingHours>('TradingHours').implement({
  description: 'When an instrument trades. The texts are the gateway’s own.',
  fields: (t) =>
    exposed(t, {
      'String!': { timezone: 'The time zone of all hours here.' },
      '[String!]!': {
        regular: 'Regular hours.',
        preMarket: 'Hours before the market opens.',
        postMarket: 'Hours after the market has closed.',
        overnight: 'Night hours.',
        otherExtended: 'Other extended hours.',
      },
    }),
});

const SwapRef = builder.objectRef<Swap>('Swap').implement({
  description: 'The cost or gain of holding a position overnight.',
  fields: (t) =>
    exposed(t, {
      'Float!': {
        long: 'Rate for a bought position.',
        short: 'Rate for a sold position.',
        mode: 'The gateway’s code for the meaning of the rates.',
        tick: 'The gateway’s swap tick.',
      },
    }),
});

export const InstrumentRef = builder.objectRef<Instrument>('Instrument').implement({
  description:
    'A tradable instrument of the catalog of the viewer’s group. Numeric codes are the gateway’s own and stay numbers.',
  fields: (t) => ({
    ...exposed(t, {
      'ID!': {
        id: 'The gateway’s identifier.',
        symbol: 'The name by which positions and orders refer to the instrument; the same as `id`.',
      },
      'String!': {
        name: 'The display name.',
        description: 'A sentence about the instrument.',
        logo: 'The address of its logo.',
        mCurrency: 'The currency of its margin.',
        pCurrency: 'The currency of its profit.',
      },
      String: {
        mFx: 'The symbol that converts its margin; null if none is needed.',
        pFx: 'The symbol that converts its profit; null if none is needed.',
      },
      'Boolean!': {
        delayed: 'Whether its prices are delayed.',
        sharia: 'Whether it counts as sharia-compliant.',
        pdt: 'Whether day-trading rules apply to it.',
      },
      'Int!': { digits: 'Decimals of its prices.' },
      'Float!': {
        leverage: 'The leverage for the viewer’s group.',
        sector: 'The gateway’s code of its sector.',
        industry: 'The gateway’s code of its industry.',
        mode: 'The gateway’s code of its trade mode.',
        calc: 'The gateway’s code for the calculation of its margin.',
        min: 'Smallest size of an order.',
        max: 'Largest size of an order.',
        step: 'Step of an order’s size.',
        limit: 'The maximum that may be held.',
      },
      '[String!]!': {
        session: 'Its trading sessions, in the gateway’s words.',
        quotes: 'Its quote sessions, in the gateway’s words.',
        access: 'The gateway’s words for who may trade the instrument.',
      },
    }),
    shariaStatus: t.expose('shariaStatus', {
      type: ShariaStatus,
      // The gateway may use a new value before this schema has it.
      nullable: true,
      description:
        'Its sharia compliance in detail. Null if the gateway’s value is not in this schema yet.',
    }),
    tradingHours: t.expose('tradingHours', {
      ...nullable('When it trades; null if the gateway does not state it.'),
      type: TradingHoursRef,
    }),
    swap: t.expose('swap', {
      ...nullable('Overnight rates; null if the gateway does not state them.'),
      type: SwapRef,
    }),
  }),
});

builder.queryFields((t) => ({
  instrument: t.field({
    type: InstrumentRef,
    nullable: true,
    description:
      'One instrument of the viewer’s catalog; null if the id is unknown. It usually needs no gateway call.',
    args: { id: t.arg.id({ required: true, description: 'Its id, which is also its symbol.' }) },
    resolve: (_root, { id }, { scope }) => scope.instrument(id),
  }),
  instrumentsByIds: t.field({
    type: [InstrumentRef],
    nullable: { list: true, items: true },
    description:
      'Instruments of the viewer’s catalog by their ids, such as a watch list. They have the order of the ids, with null for an unknown id.',
    args: { ids: t.arg.idList({ required: true, description: 'Their ids, at most 500.' }) },
    resolve: (_root, { ids }, { scope }) => scope.instrumentsByIds(ids),
  }),
}));
