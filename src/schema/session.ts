import type { SessionAnswer } from '../gateway/answers.ts';
import type { AccountAccess, Session } from '../gateway/model.ts';
import { ageLimit } from './age-limit.ts';
import { builder } from './builder.ts';
import { OrderRef, PositionRef } from './holding.ts';
import { nullable, perAccount } from './sharing.ts';

const AccountAccessRef = builder.objectRef<AccountAccess>('AccountAccess').implement({
  description: 'What kind of account this is and what it may do.',
  fields: (t) => ({
    id: t.exposeID('id', nullable(perAccount, 'The kind’s identifier.')),
    name: t.exposeString('name', nullable(perAccount, 'The kind’s name.')),
    currency: t.exposeString('currency', nullable(perAccount, 'Its currency.')),
    currencyDigits: t.exposeInt(
      'currencyDigits',
      nullable(perAccount, 'Decimals of its currency.'),
    ),
    isHedged: t.exposeBoolean(
      'isHedged',
      nullable(perAccount, 'Whether it may hold both directions of one instrument.'),
    ),
    noPl: t.exposeBoolean('noPl', nullable(perAccount, 'The gateway’s flag of that name.')),
  }),
});

/** The properties of a session that are such a value, or null. */
type NamesOf<Value> = {
  [Name in keyof Session]: Session[Name] extends Value | null ? Name : never;
}[keyof Session];

export const SessionRef = builder.objectRef<SessionAnswer>('Session').implement({
  description:
    'A snapshot of the account, as of `fetchedAt`. Fields that the gateway left out, or sent with another type, are null, as is a figure beyond ± 2^53; fractions are the nearest double.',
  fields: (t) => {
    const text = (name: NamesOf<string>, description: string) =>
      t.string({ ...nullable(perAccount, description), resolve: ({ session }) => session[name] });
    const figure = (name: NamesOf<number>, description: string) =>
      t.float({ ...nullable(perAccount, description), resolve: ({ session }) => session[name] });
    return {
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
      group: text('group', 'The account group; it decides which catalog the viewer sees.'),
      server: text('server', 'The trading server of the account.'),
      currency: text('currency', 'The account’s currency.'),
      balance: figure('balance', 'Money in the account, open positions left aside.'),
      credit: figure('credit', 'Credit given to the account.'),
      equity: figure('equity', 'What the account would be worth with all positions closed.'),
      storage: figure('storage', 'What holding positions overnight has cost or brought.'),
      assets: figure('assets', 'The gateway’s figure of that name.'),
      prevEquity: figure('prevEquity', 'Equity at the end of the period before.'),
      prevBalance: figure('prevBalance', 'Balance at the end of the period before.'),
      leverage: figure('leverage', 'The account’s leverage.'),
      invested: figure('invested', 'Capital that is invested.'),
      profits: figure('profits', 'Capital that is profit.'),
      kycStatus: text(
        'kycStatus',
        'How far the check of the customer’s identity has come, in the gateway’s words.',
      ),
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
        description: 'When the gateway was asked for these figures: they are no older.',
        resolve: ({ sentAtMs }) => new Date(sentAtMs),
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
    };
  },
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
