import type { PositionTotals } from '../domain/account/totals.ts';
import { ownRead } from './account-read.ts';
import { builder } from './builder.ts';
import { exposed } from './exposed.ts';

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
