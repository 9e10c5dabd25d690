import type { Instrument, Swap, TradingHours } from '../gateway/model.ts';
import { builder } from './builder.ts';

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
      nullable: false,
      description: 'The time zone of all hours here.',
    }),
    regular: t.exposeStringList('regular', { nullable: false, description: 'Regular hours.' }),
    preMarket: t.exposeStringList('preMarket', {
      nullable: false,
      description: 'Hours before the market opens.',
    }),
    postMarket: t.exposeStringList('postMarket', {
      nullable: false,
      description: 'Hours after the market has closed.',
    }),
    overnight: t.exposeStringList('overnight', { nullable: false, description: 'Night hours.' }),
    otherExtended: t.exposeStringList('otherExtended', {
      nullable: false,
      description: 'Other extended hours.',
    }),
  }),
});

const SwapRef = builder.objectRef<Swap>('Swap').implement({
  description: 'What it costs or brings to hold a position overnight.',
  fields: (t) => ({
    long: t.exposeFloat('long', { nullable: false, description: 'Rate for a bought position.' }),
    short: t.exposeFloat('short', { nullable: false, description: 'Rate for a sold position.' }),
    mode: t.exposeFloat('mode', {
      nullable: false,
      description: 'The gateway’s code for how the rates are meant.',
    }),
    tick: t.exposeFloat('tick', { nullable: false, description: 'The gateway’s swap tick.' }),
  }),
});

export const InstrumentRef = builder.objectRef<Instrument>('Instrument').implement({
  description:
    'Something that can be traded, as the catalog of the viewer’s group has it. Numeric codes are the gateway’s own and stay numbers.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: 'The gateway’s identifier.' }),
    symbol: t.exposeID('symbol', {
      nullable: false,
      description: 'What positions and orders call it; the same as `id`.',
    }),
    name: t.exposeString('name', { nullable: false, description: 'The name to show.' }),
    description: t.exposeString('description', {
      nullable: false,
      description: 'What it is, in a sentence.',
    }),
    logo: t.exposeString('logo', { nullable: false, description: 'Where its logo is.' }),
    delayed: t.exposeBoolean('delayed', {
      nullable: false,
      description: 'Whether its prices come with a delay.',
    }),
    sharia: t.exposeBoolean('sharia', {
      nullable: false,
      description: 'Whether it counts as sharia-compliant.',
    }),
    shariaStatus: t.expose('shariaStatus', {
      type: ShariaStatus,
      nullable: false,
      description: 'The finer verdict on its sharia compliance.',
    }),
    leverage: t.exposeFloat('leverage', {
      nullable: false,
      description: 'The leverage for the viewer’s group.',
    }),
    pdt: t.exposeBoolean('pdt', {
      nullable: false,
      description: 'Whether day-trading rules apply to it.',
    }),
    digits: t.exposeInt('digits', { nullable: false, description: 'Decimals of its prices.' }),
    session: t.exposeStringList('session', {
      nullable: false,
      description: 'Its trading sessions, in the gateway’s words.',
    }),
    quotes: t.exposeStringList('quotes', {
      nullable: false,
      description: 'Its quote sessions, in the gateway’s words.',
    }),
    tradingHours: t.expose('tradingHours', {
      type: TradingHoursRef,
      nullable: true,
      description: 'When it trades; null where the gateway does not say.',
    }),
    sector: t.exposeFloat('sector', {
      nullable: false,
      description: 'The gateway’s code of its sector.',
    }),
    industry: t.exposeFloat('industry', {
      nullable: false,
      description: 'The gateway’s code of its industry.',
    }),
    mode: t.exposeFloat('mode', {
      nullable: false,
      description: 'The gateway’s code of its trade mode.',
    }),
    calc: t.exposeFloat('calc', {
      nullable: false,
      description: 'The gateway’s code of how its margin is calculated.',
    }),
    swap: t.expose('swap', {
      type: SwapRef,
      nullable: true,
      description: 'Overnight rates; null where the gateway does not say.',
    }),
    min: t.exposeFloat('min', { nullable: false, description: 'Smallest size of an order.' }),
    max: t.exposeFloat('max', { nullable: false, description: 'Largest size of an order.' }),
    step: t.exposeFloat('step', { nullable: false, description: 'Step of an order’s size.' }),
    limit: t.exposeFloat('limit', {
      nullable: false,
      description: 'Most that may be held of it.',
    }),
    mCurrency: t.exposeString('mCurrency', {
      nullable: false,
      description: 'The currency of its margin.',
    }),
    pCurrency: t.exposeString('pCurrency', {
      nullable: false,
      description: 'The currency of its profit.',
    }),
    mFx: t.exposeString('mFx', {
      nullable: true,
      description: 'The symbol that converts its margin; null where none is needed.',
    }),
    pFx: t.exposeString('pFx', {
      nullable: true,
      description: 'The symbol that converts its profit; null where none is needed.',
    }),
    access: t.exposeStringList('access', {
      nullable: false,
      description: 'Who may trade it, in the gateway’s words.',
    }),
  }),
});

builder.queryField('instrument', (t) =>
  t.field({
    type: InstrumentRef,
    nullable: true,
    description:
      'One instrument of the viewer’s catalog; null where there is none of that id. Usually costs no call of the gateway.',
    args: {
      id: t.arg.id({ required: true, description: 'Its id, which is also its symbol.' }),
    },
    resolve: (_root, { id }, { scope }) => scope.instrument(id),
  }),
);
