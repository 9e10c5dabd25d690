import type { SessionAnswer } from '../gateway/answers.ts';
import type { AccountAccess } from '../gateway/model.ts';
import { ageLimit } from './age-limit.ts';
import { builder } from './builder.ts';
import { OrderRef, PositionRef } from './holding.ts';
import { perAccount } from './sharing.ts';

const AccountAccessRef = builder.objectRef<AccountAccess>('AccountAccess').implement({
  description: 'What kind of account this is and what it may do.',
  fields: (t) => ({
    id: t.exposeID('id', { ...perAccount, nullable: true, description: 'The kind’s identifier.' }),
    name: t.exposeString('name', {
      ...perAccount,
      nullable: true,
      description: 'The kind’s name.',
    }),
    currency: t.exposeString('currency', {
      ...perAccount,
      nullable: true,
      description: 'Its currency.',
    }),
    currencyDigits: t.exposeInt('currencyDigits', {
      ...perAccount,
      nullable: true,
      description: 'Decimals of its currency.',
    }),
    isHedged: t.exposeBoolean('isHedged', {
      ...perAccount,
      nullable: true,
      description: 'Whether it may hold both directions of one instrument.',
    }),
    noPl: t.exposeBoolean('noPl', {
      ...perAccount,
      nullable: true,
      description: 'The gateway’s flag of that name.',
    }),
  }),
});

export const SessionRef = builder.objectRef<SessionAnswer>('Session').implement({
  description:
    'A snapshot of the account, as of `fetchedAt`. Fields that the gateway left out, or sent with another type, are null.',
  fields: (t) => ({
    id: t.id({
      ...perAccount,
      nullable: false,
      description: 'The trading login, for client caches.',
      resolve: ({ session }) => session.login,
    }),
    login: t.id({
      ...perAccount,
      nullable: false,
      description: 'The trading login.',
      resolve: ({ session }) => session.login,
    }),
    group: t.string({
      ...perAccount,
      nullable: true,
      description: 'The account group; it decides which catalog the viewer sees.',
      resolve: ({ session }) => session.group,
    }),
    server: t.string({
      ...perAccount,
      nullable: true,
      description: 'The trading server of the account.',
      resolve: ({ session }) => session.server,
    }),
    currency: t.string({
      ...perAccount,
      nullable: true,
      description: 'The account’s currency.',
      resolve: ({ session }) => session.currency,
    }),
    balance: t.float({
      ...perAccount,
      nullable: true,
      description: 'Money in the account, open positions left aside.',
      resolve: ({ session }) => session.balance,
    }),
    credit: t.float({
      ...perAccount,
      nullable: true,
      description: 'Credit given to the account.',
      resolve: ({ session }) => session.credit,
    }),
    equity: t.float({
      ...perAccount,
      nullable: true,
      description: 'What the account would be worth with all positions closed.',
      resolve: ({ session }) => session.equity,
    }),
    storage: t.float({
      ...perAccount,
      nullable: true,
      description: 'What holding positions overnight has cost or brought.',
      resolve: ({ session }) => session.storage,
    }),
    assets: t.float({
      ...perAccount,
      nullable: true,
      description: 'The gateway’s figure of that name.',
      resolve: ({ session }) => session.assets,
    }),
    prevEquity: t.float({
      ...perAccount,
      nullable: true,
      description: 'Equity at the end of the period before.',
      resolve: ({ session }) => session.prevEquity,
    }),
    prevBalance: t.float({
      ...perAccount,
      nullable: true,
      description: 'Balance at the end of the period before.',
      resolve: ({ session }) => session.prevBalance,
    }),
    leverage: t.float({
      ...perAccount,
      nullable: true,
      description: 'The account’s leverage.',
      resolve: ({ session }) => session.leverage,
    }),
    invested: t.float({
      ...perAccount,
      nullable: true,
      description: 'Capital that is invested.',
      resolve: ({ session }) => session.invested,
    }),
    profits: t.float({
      ...perAccount,
      nullable: true,
      description: 'Capital that is profit.',
      resolve: ({ session }) => session.profits,
    }),
    kycStatus: t.string({
      ...perAccount,
      nullable: true,
      description: 'How far the check of the customer’s identity has come, in the gateway’s words.',
      resolve: ({ session }) => session.kycStatus,
    }),
    createdAt: t.field({
      ...perAccount,
      type: 'DateTime',
      nullable: true,
      description: 'When the account was opened.',
      resolve: ({ session }) => session.createdAt,
    }),
    fetchedAt: t.field({
      ...perAccount,
      type: 'DateTime',
      nullable: false,
      description: 'When the gateway gave these figures.',
      resolve: ({ receivedAtMs }) => new Date(receivedAtMs),
    }),
    access: t.field({
      ...perAccount,
      type: AccountAccessRef,
      nullable: true,
      description: 'What kind of account this is.',
      resolve: ({ session }) => session.access,
    }),
    positions: t.field({
      extensions: { needsWholeRead: true },
      type: [PositionRef],
      nullable: true,
      description:
        'The open positions, newest known: they may be newer than the figures beside them.',
      resolve: (answer, _args, { scope }) => scope.positionsOf(answer),
    }),
    orders: t.field({
      type: [OrderRef],
      nullable: true,
      description: 'The pending orders, as of `fetchedAt`.',
      resolve: ({ session }) => session.orders,
    }),
  }),
});

builder.queryField('session', (t) =>
  t.field({
    type: SessionRef,
    nullable: true,
    description:
      'The account’s snapshot. It is cached for a minute unless something changed; asked for several times in one request, the strictest `maxAge` counts for all.',
    args: {
      maxAge: t.arg.int({
        ...ageLimit,
        required: false,
        description: 'How old it may be, in seconds; 0 forces a fresh one.',
      }),
    },
    resolve: (_root, { maxAge }, { scope }) => scope.session(maxAge),
  }),
);
