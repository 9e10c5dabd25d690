import type { Instrument, Swap, TradingHours } from '../gateway/model.ts';
import { builder } from './builder.ts';
import { perGroup } from './sharing.ts';

export const ShariaStatus = builder.enumType('ShariaStatus', {
  description: 'How an instrument stands with Islamic finance.',
  values: {
    QUESTIONABLE: { description: 'In doubt.' },
    COMPLIANT: { description: 'Compliant.' },
    NONCOMPLIANT: { description: 'Not compliant.' },
  },
});

const TradingHoursRef = builder.objectRef<TradingHours>('TradingHours').implement({
  description: 'When an instrument trades. The texts are the gateway’s own.',
  fields: (t) => ({
    timezone: t.exposeString('timezone', {
      ...perGroup,
      nullable: false,
      description: 'The time zone of all hours here.',
    }),
    regular: t.exposeStringList('regular', {
      ...perGroup,
      nullable: false,
      description: 'Regular hours.',
    }),
    preMarket: t.exposeStringList('preMarket', {
      ...perGroup,
      nullable: false,
      description: 'Hours before the market opens.',
    }),
    postMarket: t.exposeStringList('postMarket', {
      ...perGroup,
      nullable: false,
      description: 'Hours after the market has closed.',
    }),
    overnight: t.exposeStringList('overnight', {
      ...perGroup,
      nullable: false,
      description: 'Night hours.',
    }),
    otherExtended: t.exposeStringList('otherExtended', {
      ...perGroup,
      nullable: false,
      description: 'Other extended hours.',
    }),
  }),
});

const SwapRef = builder.objectRef<Swap>('Swap').implement({
  description: 'What it costs or brings to hold a position overnight.',
  fields: (t) => ({
    long: t.exposeFloat('long', {
      ...perGroup,
      nullable: false,
      description: 'Rate for a bought position.',
    }),
    short: t.exposeFloat('short', {
      ...perGroup,
      nullable: false,
      description: 'Rate for a sold position.',
    }),
    mode: t.exposeFloat('mode', {
      ...perGroup,
      nullable: false,
      description: 'The gateway’s code for how the rates are meant.',
    }),
    tick: t.exposeFloat('tick', {
      ...perGroup,
      nullable: false,
      description: 'The gateway’s swap tick.',
    }),
  }),
});

export const InstrumentRef = builder.objectRef<Instrument>('Instrument').implement({
  description:
    'Something that can be traded, as the catalog of the viewer’s group has it. Numeric codes are the gateway’s own and stay numbers.',
  fields: (t) => ({
    id: t.exposeID('id', {
      ...perGroup,
      nullable: false,
      description: 'The gateway’s identifier.',
    }),
    symbol: t.exposeID('symbol', {
      ...perGroup,
      nullable: false,
      description:
        'The name by which positions and orders refer to the instrument; the same as `id`.',
    }),
    name: t.exposeString('name', {
      ...perGroup,
      nullable: false,
      description: 'The name to show.',
    }),
    description: t.exposeString('description', {
      ...perGroup,
      nullable: false,
      description: 'A sentence that says what the instrument is.',
    }),
    logo: t.exposeString('logo', {
      ...perGroup,
      nullable: false,
      description: 'Where its logo is.',
    }),
    delayed: t.exposeBoolean('delayed', {
      ...perGroup,
      nullable: false,
      description: 'Whether its prices come with a delay.',
    }),
    sharia: t.exposeBoolean('sharia', {
      ...perGroup,
      nullable: false,
      description: 'Whether it counts as sharia-compliant.',
    }),
    shariaStatus: t.expose('shariaStatus', {
      ...perGroup,
      type: ShariaStatus,
      // The gateway may have a new word for it before this schema has.
      nullable: true,
      description:
        'The finer verdict on its sharia compliance. Null where the gateway’s word for it is not in this schema yet.',
    }),
    leverage: t.exposeFloat('leverage', {
      ...perGroup,
      nullable: false,
      description: 'The leverage for the viewer’s group.',
    }),
    pdt: t.exposeBoolean('pdt', {
      ...perGroup,
      nullable: false,
      description: 'Whether day-trading rules apply to it.',
    }),
    digits: t.exposeInt('digits', {
      ...perGroup,
      nullable: false,
      description: 'Decimals of its prices.',
    }),
    session: t.exposeStringList('session', {
      ...perGroup,
      nullable: false,
      description: 'Its trading sessions, in the gateway’s words.',
    }),
    quotes: t.exposeStringList('quotes', {
      ...perGroup,
      nullable: false,
      description: 'Its quote sessions, in the gateway’s words.',
    }),
    tradingHours: t.expose('tradingHours', {
      ...perGroup,
      type: TradingHoursRef,
      nullable: true,
      description: 'When it trades; null where the gateway does not say.',
    }),
    sector: t.exposeFloat('sector', {
      ...perGroup,
      nullable: false,
      description: 'The gateway’s code of its sector.',
    }),
    industry: t.exposeFloat('industry', {
      ...perGroup,
      nullable: false,
      description: 'The gateway’s code of its industry.',
    }),
    mode: t.exposeFloat('mode', {
      ...perGroup,
      nullable: false,
      description: 'The gateway’s code of its trade mode.',
    }),
    calc: t.exposeFloat('calc', {
      ...perGroup,
      nullable: false,
      description: 'The gateway’s code of how its margin is calculated.',
    }),
    swap: t.expose('swap', {
      ...perGroup,
      type: SwapRef,
      nullable: true,
      description: 'Overnight rates; null where the gateway does not say.',
    }),
    min: t.exposeFloat('min', {
      ...perGroup,
      nullable: false,
      description: 'Smallest size of an order.',
    }),
    max: t.exposeFloat('max', {
      ...perGroup,
      nullable: false,
      description: 'Largest size of an order.',
    }),
    step: t.exposeFloat('step', {
      ...perGroup,
      nullable: false,
      description: 'Step of an order’s size.',
    }),
    limit: t.exposeFloat('limit', {
      ...perGroup,
      nullable: false,
      description: 'Most that may be held of it.',
    }),
    mCurrency: t.exposeString('mCurrency', {
      ...perGroup,
      nullable: false,
      description: 'The currency of its margin.',
    }),
    pCurrency: t.exposeString('pCurrency', {
      ...perGroup,
      nullable: false,
      description: 'The currency of its profit.',
    }),
    mFx: t.exposeString('mFx', {
      ...perGroup,
      nullable: true,
      description: 'The symbol that converts its margin; null where none is needed.',
    }),
    pFx: t.exposeString('pFx', {
      ...perGroup,
      nullable: true,
      description: 'The symbol that converts its profit; null where none is needed.',
    }),
    access: t.exposeStringList('access', {
      ...perGroup,
      nullable: false,
      description: 'The gateway’s words for who may trade the instrument.',
    }),
  }),
});

builder.queryFields((t) => ({
  instrument: t.field({
    ...perGroup,
    type: InstrumentRef,
    nullable: true,
    description:
      'One instrument of the viewer’s catalog; null where there is none of that id. Usually costs no call of the gateway.',
    args: {
      id: t.arg.id({ required: true, description: 'Its id, which is also its symbol.' }),
    },
    resolve: (_root, { id }, { scope }) => scope.instrument(id),
  }),
  instrumentsByIds: t.field({
    ...perGroup,
    type: [InstrumentRef],
    nullable: { list: true, items: true },
    description:
      'Instruments of the viewer’s catalog by their ids, such as a watch list: in the order given, null where there is none of that id.',
    args: {
      ids: t.arg.idList({ required: true, description: 'Their ids, at most 500.' }),
    },
    resolve: (_root, { ids }, { scope }) => scope.instrumentsByIds(ids),
  }),
}));
