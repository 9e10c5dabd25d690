import type { Instrument, Swap, TradingHours } from '../gateway/model.ts';
import { builder } from './builder.ts';
import { nonNull, nullable, perGroup } from './sharing.ts';

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
    timezone: t.exposeString('timezone', nonNull(perGroup, 'The time zone of all hours here.')),
    regular: t.exposeStringList('regular', nonNull(perGroup, 'Regular hours.')),
    preMarket: t.exposeStringList('preMarket', nonNull(perGroup, 'Hours before the market opens.')),
    postMarket: t.exposeStringList(
      'postMarket',
      nonNull(perGroup, 'Hours after the market has closed.'),
    ),
    overnight: t.exposeStringList('overnight', nonNull(perGroup, 'Night hours.')),
    otherExtended: t.exposeStringList('otherExtended', nonNull(perGroup, 'Other extended hours.')),
  }),
});

const SwapRef = builder.objectRef<Swap>('Swap').implement({
  description: 'What it costs or brings to hold a position overnight.',
  fields: (t) => ({
    long: t.exposeFloat('long', nonNull(perGroup, 'Rate for a bought position.')),
    short: t.exposeFloat('short', nonNull(perGroup, 'Rate for a sold position.')),
    mode: t.exposeFloat(
      'mode',
      nonNull(perGroup, 'The gateway’s code for how the rates are meant.'),
    ),
    tick: t.exposeFloat('tick', nonNull(perGroup, 'The gateway’s swap tick.')),
  }),
});

export const InstrumentRef = builder.objectRef<Instrument>('Instrument').implement({
  description:
    'Something that can be traded, as the catalog of the viewer’s group has it. Numeric codes are the gateway’s own and stay numbers.',
  fields: (t) => ({
    id: t.exposeID('id', nonNull(perGroup, 'The gateway’s identifier.')),
    symbol: t.exposeID('symbol', {
      ...perGroup,
      nullable: false,
      description:
        'The name by which positions and orders refer to the instrument; the same as `id`.',
    }),
    name: t.exposeString('name', nonNull(perGroup, 'The name to show.')),
    description: t.exposeString(
      'description',
      nonNull(perGroup, 'A sentence that says what the instrument is.'),
    ),
    logo: t.exposeString('logo', nonNull(perGroup, 'Where its logo is.')),
    delayed: t.exposeBoolean('delayed', nonNull(perGroup, 'Whether its prices come with a delay.')),
    sharia: t.exposeBoolean('sharia', nonNull(perGroup, 'Whether it counts as sharia-compliant.')),
    shariaStatus: t.expose('shariaStatus', {
      ...perGroup,
      type: ShariaStatus,
      // The gateway may have a new word for it before this schema has.
      nullable: true,
      description:
        'The finer verdict on its sharia compliance. Null where the gateway’s word for it is not in this schema yet.',
    }),
    leverage: t.exposeFloat('leverage', nonNull(perGroup, 'The leverage for the viewer’s group.')),
    pdt: t.exposeBoolean('pdt', nonNull(perGroup, 'Whether day-trading rules apply to it.')),
    digits: t.exposeInt('digits', nonNull(perGroup, 'Decimals of its prices.')),
    session: t.exposeStringList(
      'session',
      nonNull(perGroup, 'Its trading sessions, in the gateway’s words.'),
    ),
    quotes: t.exposeStringList(
      'quotes',
      nonNull(perGroup, 'Its quote sessions, in the gateway’s words.'),
    ),
    tradingHours: t.expose('tradingHours', {
      ...nullable(perGroup, 'When it trades; null where the gateway does not say.'),
      type: TradingHoursRef,
    }),
    sector: t.exposeFloat('sector', nonNull(perGroup, 'The gateway’s code of its sector.')),
    industry: t.exposeFloat('industry', nonNull(perGroup, 'The gateway’s code of its industry.')),
    mode: t.exposeFloat('mode', nonNull(perGroup, 'The gateway’s code of its trade mode.')),
    calc: t.exposeFloat(
      'calc',
      nonNull(perGroup, 'The gateway’s code of how its margin is calculated.'),
    ),
    swap: t.expose('swap', {
      ...nullable(perGroup, 'Overnight rates; null where the gateway does not say.'),
      type: SwapRef,
    }),
    min: t.exposeFloat('min', nonNull(perGroup, 'Smallest size of an order.')),
    max: t.exposeFloat('max', nonNull(perGroup, 'Largest size of an order.')),
    step: t.exposeFloat('step', nonNull(perGroup, 'Step of an order’s size.')),
    limit: t.exposeFloat('limit', nonNull(perGroup, 'Most that may be held of it.')),
    mCurrency: t.exposeString('mCurrency', nonNull(perGroup, 'The currency of its margin.')),
    pCurrency: t.exposeString('pCurrency', nonNull(perGroup, 'The currency of its profit.')),
    mFx: t.exposeString(
      'mFx',
      nullable(perGroup, 'The symbol that converts its margin; null where none is needed.'),
    ),
    pFx: t.exposeString(
      'pFx',
      nullable(perGroup, 'The symbol that converts its profit; null where none is needed.'),
    ),
    access: t.exposeStringList(
      'access',
      nonNull(perGroup, 'The gateway’s words for who may trade the instrument.'),
    ),
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
