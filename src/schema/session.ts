import type { AccountAccess, SessionAnswer } from '../gateway/operations/get-session.ts';
import { systemClock } from '../lib/clock.ts';
import {
  ageLimit,
  builder,
  checkAge,
  exposed,
  exposedOf,
  nonNull,
  nullable,
  reads,
} from './builder.ts';
import { OrderRef, PositionRef } from './holding.ts';

const UNDOCUMENTED = 'Passed through. The gateway does not document it.';

const AccountAccessRef = builder.objectRef<AccountAccess>('AccountAccess').implement({
  description: 'The kind of the account and its permissions.',
  fields: (t) =>
    exposed(t, {
      ID: { id: 'The kind’s identifier.' },
      String: { name: 'The kind’s name.', currency: 'Its currency.' },
      Int: { currencyDigits: 'Decimals of its currency.' },
      Boolean: {
        isHedged: 'Whether it may hold both directions of one instrument.',
        noPl: UNDOCUMENTED,
      },
    }),
});

export const SessionRef = builder.objectRef<SessionAnswer>('Session').implement({
  description:
    'A snapshot of the account, as of `fetchedAt`. A field is null if the gateway left it out or sent another type, or if its figure is beyond ± 2^53. Fractions are the nearest double.',
  fields: (t) => ({
    id: t.id({
      ...nonNull('The trading login, for client caches.'),
      resolve: ({ session }) => session.login,
    }),
    ...exposedOf(t, ({ session }) => session, {
      'ID!': { login: 'The trading login.' },
      String: {
        group: 'The account group; it decides which catalog the viewer sees.',
        server: 'The trading server of the account.',
        currency: 'The account’s currency.',
        kycStatus: 'The state of the customer’s identity check, in the gateway’s words.',
      },
      Float: {
        balance: 'Money in the account, without open positions.',
        credit: 'Credit given to the account.',
        equity: 'The value of the account if all positions were closed.',
        storage: 'The cost or gain of holding positions overnight.',
        assets: UNDOCUMENTED,
        prevEquity: UNDOCUMENTED,
        prevBalance: UNDOCUMENTED,
        leverage: 'The account’s leverage.',
        invested: UNDOCUMENTED,
        profits: UNDOCUMENTED,
      },
      DateTime: { createdAt: 'When the account was opened.' },
    }),
    fetchedAt: t.field({
      ...nonNull('When these figures were requested from the gateway. They are not older.'),
      type: 'DateTime',
      resolve: ({ sentAtMs }) => new Date(systemClock.dateOf(sentAtMs)),
    }),
    access: t.field({
      ...nullable('The kind of the account.'),
      type: AccountAccessRef,
      resolve: ({ session }) => session.access,
    }),
    positions: t.field({
      ...reads('rows'),
      type: [PositionRef],
      nullable: true,
      description:
        'The newest known list of open positions. It may be newer than the session’s figures.',
      resolve: (answer, _args, { scope }) => scope.positionsOf(answer),
    }),
    orders: t.field({
      ...nullable('The pending orders, as of `fetchedAt`.', reads('orders')),
      type: [OrderRef],
      resolve: ({ session }) => session.orders,
    }),
  }),
});

builder.queryField('session', (t) =>
  t.field({
    ...reads('session'),
    type: SessionRef,
    nullable: true,
    description:
      'The account’s snapshot. It is cached for a minute unless something changed. If one request selects it several times, the strictest `maxAge` counts for all.',
    args: { maxAge: t.arg.int(ageLimit('Its maximum age, in seconds; 0 forces a fresh one.')) },
    resolve: (_root, { maxAge }, { scope }) => {
      checkAge(maxAge);
      return scope.session();
    },
  }),
);
