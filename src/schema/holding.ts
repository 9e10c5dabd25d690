import type { PositionTotals } from '../domain/account/totals.ts';
import type { Order, Position } from '../gateway/operations/holdings.ts';
import { traits } from '../lib/field-traits.ts';
import { ageLimit, builder, checkAge, exposed, nullable, ownRead, reads } from './builder.ts';
import { InstrumentRef } from './instrument.ts';
import type { AccountRead } from './scope.ts';

export const Side = builder.enumType('Side', {
  description: 'The direction of a trade.',
  values: {
    BUY: { description: 'Long: gains when the price rises.' },
    SELL: { description: 'Short: gains when the price falls.' },
  },
});

const OrderKind = builder.enumType('OrderKind', {
  description: 'The price that a pending order waits for.',
  values: {
    LIMIT: { description: 'A better price than at the time it was placed.' },
    STOP: { description: 'A worse price than at the time it was placed.' },
  },
});

export const PositionRef = builder.objectRef<Position>('Position');
export const OrderRef = builder.objectRef<Order>('Order');

// One loop defines the fields of both types, so that their meanings cannot diverge.
for (const [ref, what] of [
  [PositionRef, 'position'],
  [OrderRef, 'order'],
] as const) {
  builder.objectFields(ref as typeof PositionRef, (t) => ({
    ...exposed(t, {
      'ID!': {
        id: `The gateway’s number of the ${what}.`,
        symbol: 'The symbol of the instrument that is traded.',
      },
      String: {
        name: 'The display name of the instrument.',
        logo: 'The address of the instrument’s logo.',
        comment: 'The note that was saved with it.',
      },
      Boolean: {
        delayed: 'Whether its prices are delayed.',
        sharia: 'Whether the instrument counts as sharia-compliant.',
      },
      Int: { digits: 'Decimals of its prices.' },
      Float: {
        units: 'Its size in units of the instrument.',
        priceOpen:
          what === 'position'
            ? 'The price at which it was opened.'
            : 'The price that it waits for.',
        priceCurrent:
          what === 'position'
            ? 'The price now.'
            : 'The price when the orders were read, up to a minute ago.',
        leverage: 'Its leverage.',
        rateMargin: 'The rate that converts its margin into the account’s currency.',
        stopLoss: 'The price at which it closes to stop a loss. A 0 of the gateway is passed on.',
        takeProfit:
          'The price at which it closes to take a profit. A 0 of the gateway is passed on.',
        invested: 'The invested money.',
      },
      DateTime: {
        createdAt: `When the ${what} was made.`,
        updatedAt: `When the ${what} last changed.`,
      },
    }),
    instrument: t.field({
      type: InstrumentRef,
      nullable: true,
      description: 'The symbol’s instrument; null if the catalog of the viewer’s group lacks it.',
      resolve: ({ symbol }, _args, { scope }) => scope.instrument(symbol),
    }),
    side: t.expose('side', { ...nullable('Bought or sold.'), type: Side }),
  }));
}

PositionRef.implement({
  description:
    'An open position. A field is null if the gateway left it out or sent another type, or if its figure is beyond ± 2^53. Fractions are the nearest double. `Instrument.positions` has the positions in one instrument.',
  fields: (t) =>
    exposed(t, {
      Float: {
        rateProfit: 'The rate that converts its profit into the account’s currency.',
        storage: 'The cost or gain of holding the position overnight.',
        profit: 'Its profit or loss now.',
      },
    }),
});

OrderRef.implement({
  description:
    'A pending order. A field is null if the gateway left it out or sent another type, or if its figure is beyond ± 2^53. Fractions are the nearest double. `Instrument.orders` has the orders for one instrument.',
  fields: (t) => ({
    kind: t.expose('kind', {
      type: OrderKind,
      nullable: true,
      description:
        'Limit or stop. An order that the gateway does not call a limit order counts as a stop.',
    }),
    ...exposed(t, {
      Float: { state: 'The gateway’s code of its state.' },
      Boolean: { useMargin: 'Whether it is carried out on margin.' },
    }),
  }),
});

builder.queryFields((t) => ({
  positions: t.field({
    ...ownRead('positions', (scope) => scope.positions()),
    type: [PositionRef],
    description:
      'The newest known list of open positions. It has no pending orders and no closed trades.',
  }),
  position: t.field({
    ...nullable('One open position; null if no open position has the id.', reads('positions')),
    type: PositionRef,
    args: { id: t.arg.id({ required: true, description: 'The position’s id.' }) },
    resolve: (_root, { id }, { scope }) => scope.position(id),
  }),
  orders: t.field({
    ...reads('orders'),
    type: [OrderRef],
    nullable: true,
    description:
      'The pending orders, from the account’s snapshot; null if the snapshot has no such list. The snapshot is cached for a minute. It is read again if positions were opened or closed since.',
    args: {
      maxAge: t.arg.int(
        ageLimit('The maximum age of the snapshot, in seconds; 0 forces a fresh one.'),
      ),
    },
    resolve: (_root, { maxAge }, { scope }) => {
      checkAge(maxAge);
      return scope.orders();
    },
  }),
  order: t.field({
    ...nullable('One pending order; null if no pending order has the id.', reads('orders')),
    type: OrderRef,
    args: { id: t.arg.id({ required: true, description: 'The order’s id.' }) },
    resolve: (_root, { id }, { scope }) => scope.order(id),
  }),
}));

const own = 'only the viewer’s own; one read for all instruments of a request.';

/** Few instruments have a position or an order, and the lists of all of them together have an account's entries once. */
const ofInstrument = (name: AccountRead) => traits({ reads: name, listSize: 5 });

builder.objectFields(InstrumentRef, (t) => ({
  positions: t.field({
    ...nullable(`Open positions in this instrument: ${own}`, ofInstrument('positions')),
    type: [PositionRef],
    resolve: ({ symbol }, _args, { scope }) => scope.positionsIn(symbol),
  }),
  orders: t.field({
    ...nullable(`Pending orders for this instrument: ${own}`, ofInstrument('orders')),
    type: [OrderRef],
    resolve: ({ symbol }, _args, { scope }) => scope.ordersFor(symbol),
  }),
}));

export const PositionTotalsRef = builder.objectRef<PositionTotals>('PositionTotals').implement({
  description:
    'Exact decimal sums of the gateway’s figures, in no stated currency; null beyond ± 2^53.',
  fields: (t) =>
    exposed(t, {
      'Int!': { count: 'The number of open positions.' },
      Float: {
        invested: 'The sum of invested money; null if a position lacks the figure.',
        profit: 'The sum of profit and loss; null if a position lacks the figure.',
      },
    }),
});

builder.queryField('positionTotals', (t) =>
  t.field({
    ...ownRead('positions', (scope) => scope.positionTotals()),
    type: PositionTotalsRef,
    description: 'Sums over the open positions, from the same read as `positions`.',
  }),
);
