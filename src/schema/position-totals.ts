import type { PositionTotals } from '../domain/account/totals.ts';
import { ownRead } from './account-read.ts';
import { builder } from './builder.ts';
import { exposed } from './exposed.ts';
import { perAccount } from './sharing.ts';

export const PositionTotalsRef = builder.objectRef<PositionTotals>('PositionTotals').implement({
  description:
    'Exact decimal sums of the gateway’s figures, in no stated currency; null beyond ± 2^53.',
  fields: (t) =>
    exposed(t, perAccount, {
      'Int!': { count: 'How many positions are open.' },
      Float: {
        invested: 'All that is invested; null where a position does not say.',
        profit: 'All profit and loss; null where a position does not say.',
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
